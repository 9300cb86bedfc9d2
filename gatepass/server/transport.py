"""A transport that knows how much of what was written the caller has taken."""

import asyncio
import fcntl
import sys
import termios
from typing import Any


class CountingTransport:
    """What is written after the caller has gone is dropped; uvloop would raise."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._written = 0

    def write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._written += len(data)
            self._transport.write(data)

    def unsent(self) -> tuple[int, int]:
        """Bytes that wait to be sent, and, if there are any, how many the caller has taken since it connected."""
        waiting = self._transport.get_write_buffer_size()
        return waiting, self._written - waiting - self._in_kernel() if waiting else 0

    def _in_kernel(self) -> int:
        """Bytes that the kernel has not brought to the caller. It asks us for more only when many of them are gone."""
        try:
            answer = fcntl.ioctl(self._transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
        except OSError:  # it is gone, or this kernel cannot tell
            return 0
        return int.from_bytes(answer, sys.byteorder)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
