"""Many slow callers, in a process of their own that costs little: `python -m tests.server.slow_callers PORT KEY`.

A third each drips a head, drips a body, and does not read its response. A line on standard input is a number of callers
to open; they are closed by the next one. Each is answered with a line: how many are open.
"""

import os
import select
import socket
import subprocess
import sys
import time
from contextlib import suppress
from itertools import cycle

from gatepass.api.openapi.docs_page import SCALAR
from gatepass.base.settings import BASE_PATH
from tests.server.raw_http import request

TURNS_A_SECOND = 20


class SlowCallers:
    """The process, from outside."""

    def __init__(self, port: int, key: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(port), key],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def open(self, count: int) -> int:
        """Close all callers, and open so many; how many could connect."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


def beginnings(key: str) -> list[tuple[bytes, bool]]:
    """What each kind of caller sends first, and whether it goes on to drip."""
    body = [("Authorization", f"Bearer {key}"), ("Content-Length", "10000")]
    script = [("Accept-Encoding", "identity")]
    return [
        (request("GET", "/livez")[:-2] + b"X: ", True),
        (request("POST", BASE_PATH + "/scan", body), True),
        (request("GET", f"/docs/{SCALAR}", script), False),
    ]


def opened(port: int, raw: bytes) -> socket.socket:
    caller = socket.socket()
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    caller.connect(("127.0.0.1", port))
    caller.sendall(raw)
    caller.setblocking(False)
    return caller


def drip(callers: list[socket.socket]) -> None:
    for caller in callers:
        with suppress(OSError):  # it was cut off
            caller.send(b"x")


def main(port: int, key: str) -> None:
    callers: list[socket.socket] = []
    dripping: list[socket.socket] = []
    turns = cycle(range(TURNS_A_SECOND))
    while True:
        began = time.monotonic()
        if select.select([0], [], [], 0)[0]:
            count = int(os.read(0, 100))
            for caller in callers:
                caller.close()
            kinds = cycle(beginnings(key))
            chosen = [next(kinds) for _ in range(count)]
            callers = [opened(port, raw) for raw, _ in chosen]
            dripping = [caller for caller, (_, drips) in zip(callers, chosen, strict=True) if drips]
            print(len(callers), flush=True)
        drip(dripping[next(turns) :: TURNS_A_SECOND])
        time.sleep(max(0.0, 1 / TURNS_A_SECOND - (time.monotonic() - began)))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
