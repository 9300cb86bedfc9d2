"""Announcing that a process is ready: to people by a line, to systemd by its own protocol (sd_notify)."""

import os
import socket
from typing import Final

SYSTEMD: Final = "NOTIFY_SOCKET"


def announce(line: str) -> None:
    """With `Type=notify`, `systemctl restart` waits for this: so processes can be restarted one after another."""
    print(line, flush=True)
    if address := os.environ.get(SYSTEMD):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            # An address that begins with @ is in the abstract namespace, which the kernel writes with a NUL.
            systemd.sendto(b"READY=1", address.replace("@", "\0", 1) if address.startswith("@") else address)
