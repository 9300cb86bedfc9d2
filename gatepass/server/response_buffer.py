"""A transport that writes the head of a response together with its body."""

import asyncio
import fcntl
import sys
import termios
from typing import Any, Final

END_OF_HEAD: Final = b"\r\n\r\n"
# Joining the head and a body as large as this would cost more than a second packet.
LARGE: Final = 64 * 1024
CONTINUE: Final = b"HTTP/1.1 100 "


class ResponseBuffer:
    """It holds the head until the body comes: one system call and one packet, not two.

    What is written after the caller has gone is dropped; uvloop would raise.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""
        self._written = 0

    def write(self, data: bytes) -> None:
        if len(data) > LARGE:
            self.flush()
        elif self._head:
            data, self._head = self._head + data, b""
        elif data.endswith(END_OF_HEAD) and not data.startswith(CONTINUE):
            self._head = data
            return
        self._send(data)

    def flush(self) -> None:
        """Write the head of a response that has no body."""
        if self._head:
            head, self._head = self._head, b""
            self._send(head)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def unsent(self) -> tuple[int, int]:
        """Bytes that wait to be sent, and, if there are any, how many the caller has taken since it connected."""
        waiting = self._transport.get_write_buffer_size()
        return waiting, self._written - waiting - self._in_kernel() if waiting else 0

    def _send(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._written += len(data)
            self._transport.write(data)

    def _in_kernel(self) -> int:
        """Bytes that the kernel has not brought to the caller. It asks us for more only when many of them are gone."""
        try:
            answer = fcntl.ioctl(self._transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
        except OSError:  # it is gone, or this kernel cannot tell
            return 0
        return int.from_bytes(answer, sys.byteorder)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
