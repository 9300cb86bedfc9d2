"""A flaky receiver: it refuses, resets and ignores messages at random, and logs its answers.

    python -m tests.faults.webhooks.flaky_receiver --log FILE

prints its port. The path of a URL is the profile. A line of the log is `profile type ticket attempt answer`; it is
written before the answer, so every answer that a sender got is in it.
"""

import argparse
import asyncio
import os
import random
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import uvloop

from gatepass.base.wire_constants import ATTEMPT_HEADER, EVENT_HEADER

OK, FAILS, RESETS, IGNORES = "200", "500", "reset", "ignored"
# How often, in a thousand messages.
PROFILES: Final = {
    "calm": {FAILS: 50, RESETS: 5, IGNORES: 1},
    "flaky": {FAILS: 200, RESETS: 20, IGNORES: 2},
    "failing": {FAILS: 250, RESETS: 5, IGNORES: 1},
}
HEAD: Final = re.compile(
    rf"POST /(?P<profile>\w+) (?=.*\r\n{EVENT_HEADER}: (?P<type>[^\r]*))(?=.*\r\n{ATTEMPT_HEADER}: (?P<attempt>\d+))"
    r"(?=.*\r\ncontent-length: (?P<length>\d+))".encode(),
    re.IGNORECASE | re.DOTALL,
)
TICKET: Final = re.compile(rb'"ticket_id":"([^"]+)"')


class Seen(NamedTuple):
    profile: str
    type: str
    ticket: str
    attempt: int
    answer: str


class FlakyProtocol(asyncio.Protocol):
    def __init__(self, log: int, dice: random.Random) -> None:
        self._log = log
        self._dice = dice
        self._rest = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """A sender waits for its answer, so there is one message at a time."""
        self._rest += data
        end = self._rest.find(b"\r\n\r\n") + 4
        found = HEAD.match(self._rest, 0, end) if end > 3 else None
        if found is None or len(self._rest) < end + int(found["length"]):
            return
        ticket = TICKET.search(self._rest, end)
        self._rest = b""
        answer = self._chosen(found["profile"].decode())
        fields = [found["profile"], found["type"], ticket[1] if ticket else b"-", found["attempt"], answer.encode()]
        os.write(self._log, b" ".join(fields) + b"\n")
        self._answer(answer)

    def _chosen(self, profile: str) -> str:
        dice = self._dice.randrange(1000)
        for answer, often in PROFILES[profile].items():
            if dice < often:
                return answer
            dice -= often
        return OK

    def _answer(self, answer: str) -> None:
        if answer == RESETS:
            connection = self._transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()
        elif answer != IGNORES:
            self._transport.write(f"HTTP/1.1 {answer} Answer\r\ncontent-length: 0\r\n\r\n".encode())


async def _serve(log: str, seed: int) -> None:
    written, dice = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), random.Random(seed)
    server = await asyncio.get_running_loop().create_server(
        lambda: FlakyProtocol(written, dice), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@dataclass
class FlakyReceiver:
    port: int
    log: Path

    def url(self, profile: str) -> str:
        return f"http://127.0.0.1:{self.port}/{profile}"

    def seen(self) -> list[Seen]:
        """All messages, in the order of arrival."""
        lines = [line.split() for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [Seen(profile, type, ticket, int(attempt), answer) for profile, type, ticket, attempt, answer in lines]


@contextmanager
def flaky_receiver(log: Path) -> Generator[FlakyReceiver]:
    command = [sys.executable, "-m", "tests.faults.webhooks.flaky_receiver", "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as process:
        try:
            assert process.stdout
            yield FlakyReceiver(int(process.stdout.readline()), log)
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.webhooks.flaky_receiver")
    parser.add_argument("--log", required=True)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(arguments.log, arguments.seed))


if __name__ == "__main__":
    main()
