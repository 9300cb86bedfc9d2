"""A receiver of webhooks in a process of its own, for load and for tests that kill.

    python -m tests.load_receiver --port 0 --tls CERT KEY --log FILE

It prints its port, answers each message, and counts them: `GET /count` returns the count. With `--log` it writes a
line for each message before it answers, `evt_id attempt delivery time`, by one write each, so that a kill loses none.
"""

import argparse
import asyncio
import contextlib
import os
import re
import ssl
import time
from dataclasses import dataclass, field
from typing import Any

import uvloop

from gatepass.base.wire_constants import ATTEMPT_HEADER, DELIVERY_HEADER


@dataclass
class ReceiverState:
    """The answer to each message, and the number of messages."""

    answer: bytes
    delay: float
    hangs: bool
    log: int | None
    count: int = 0
    headers: re.Pattern[bytes] = field(
        default_factory=lambda: re.compile(
            rf"^(webhook-id|{ATTEMPT_HEADER}|{DELIVERY_HEADER}): *([^\r]*)".encode(), re.IGNORECASE | re.MULTILINE
        )
    )

    def record(self, head: bytes) -> None:
        self.count += 1
        if self.log is not None:
            values = {name.lower(): value for name, value in self.headers.findall(head)}
            names = (b"webhook-id", ATTEMPT_HEADER.encode(), DELIVERY_HEADER.encode())
            fields = [values.get(name, b"-") for name in names]
            os.write(self.log, b" ".join([*fields, f"{time.time():.6f}\n".encode()]))


class ReceiverProtocol(asyncio.Protocol):
    """Parses only what it needs of a request, and keeps the connection open."""

    length = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)

    def __init__(self, state: ReceiverState) -> None:
        self._state = state
        self._rest = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        rest = self._rest + data if self._rest else data
        while (end := rest.find(b"\r\n\r\n") + 4) > 3:
            found = self.length.search(rest, 0, end)
            whole = end + (int(found[1]) if found else 0)
            if len(rest) < whole:
                break
            self._take(rest[:end])
            rest = rest[whole:]
        self._rest = rest

    def _take(self, head: bytes) -> None:
        if head.startswith(b"GET /count"):
            text = str(self._state.count).encode()
            self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text))
            return
        self._state.record(head)
        if self._state.delay:
            asyncio.get_running_loop().call_later(self._state.delay, self._answer)
        elif not self._state.hangs:
            self._answer()

    def _answer(self) -> None:
        if not self._transport.is_closing():  # the sender may have been killed
            self._transport.write(self._state.answer)


async def _serve(arguments: argparse.Namespace) -> None:
    context = None
    if arguments.tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*arguments.tls)
    log = os.open(arguments.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if arguments.log else None
    answer = f"HTTP/1.1 {arguments.status} Answer\r\ncontent-length: 0\r\n\r\n".encode()
    state = ReceiverState(answer, arguments.delay, arguments.hang, log)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: ReceiverProtocol(state), arguments.host, arguments.port, ssl=context, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.load_receiver")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--log", help="a line for each message")
    parser.add_argument("--status", type=int, default=200)
    parser.add_argument("--delay", type=float, default=0, help="seconds until each answer")
    parser.add_argument("--hang", action="store_true", help="never answer")
    with contextlib.suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
