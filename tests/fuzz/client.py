"""A client process: sends its share of the requests, pipelined, and counts the answers.

    python -m tests.fuzz.client JOB

JOB is a pickle that the main process wrote. Once a second a line of JSON with the counts goes to standard output.
Between SIGUSR1 and SIGUSR2 one connection sends alone: a gate that is measured then meets malformed requests, and not a
full machine.
"""

import asyncio
import json
import pickle
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httptools
import uvloop

from tests.fuzz.corpus import Corpus, Facts
from tests.fuzz.kinds import request
from tests.fuzz.pools import Pools

# Connections that send requests whose framing is right, and the requests that are under way on each.
CONNECTIONS, PIPELINED = 4, 16
# A request with a wrong length may wait for more; it gets this long, on a connection of its own.
BROKEN_AT_ONCE, PATIENCE = 40, 0.4
TIMEOUT = 60.0
FRAMING = "HTTP framing"
FAULTS_KEPT = 5


@dataclass(frozen=True)
class Job:
    facts: Facts
    pools: Pools
    seed: int
    client: int
    requests: int
    # On the clock of the machine.
    deadline: float


class Answers:
    """The statuses that have arrived on a connection."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self._parser = httptools.HttpResponseParser(self)

    def on_message_complete(self) -> None:
        self.statuses.append(self._parser.get_status_code())

    def feed(self, data: bytes) -> None:
        self._parser.feed_data(data)


class Client:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._corpus = Corpus(job.facts)
        self._numbers = count()
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.faults: list[list[Any]] = []
        self._broken = asyncio.Semaphore(BROKEN_AT_ONCE)
        self.full_speed = asyncio.Event()
        self.full_speed.set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def sent(self) -> int:
        return sum(sum(statuses.values()) for statuses in self.counts.values())

    async def run(self) -> None:
        await asyncio.gather(*(self._keep_sending(at) for at in range(CONNECTIONS)))
        await asyncio.gather(*self._tasks)

    @property
    def is_done(self) -> bool:
        return self.sent >= self._job.requests or time.monotonic() > self._job.deadline

    async def _keep_sending(self, at: int) -> None:
        while not self.is_done:
            if at:
                await self.full_speed.wait()
            batch = await self._next_batch()
            if batch:
                await self._send(batch)

    async def _next_batch(self) -> list[tuple[int, str, bytes]]:
        """The next requests whose framing is right; the others among them go their own way."""
        batch: list[tuple[int, str, bytes]] = []
        for _ in range(PIPELINED):
            number = next(self._numbers)
            kind, raw = request(number, self._job.seed, self._job.client, self._corpus, self._job.pools)
            if kind == FRAMING:
                await self._broken.acquire()
                task = asyncio.create_task(self._send_alone(number, raw))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                batch.append((number, kind, raw))
        return batch

    async def _send(self, batch: list[tuple[int, str, bytes]]) -> None:
        """Send them at once and read the answers. If the server closes, the rest goes over a new connection."""
        while batch:
            statuses = await self._exchange(b"".join(raw for _, _, raw in batch), len(batch), TIMEOUT)
            for (number, kind, _), status in zip(batch, statuses, strict=False):
                self._note(kind, str(status), number)
            if not statuses:
                self._note(batch[0][1], "closed", batch[0][0])
            batch = batch[max(1, len(statuses)) :]

    async def _send_alone(self, number: int, raw: bytes) -> None:
        try:
            statuses = await self._exchange(raw, 1, PATIENCE)
            self._note(FRAMING, str(statuses[0]) if statuses else "no answer", number)
            for status in statuses[1:]:
                self._note(FRAMING, str(status), number)
        finally:
            self._broken.release()

    async def _exchange(self, data: bytes, wanted: int, patience: float) -> list[int]:
        answers = Answers()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._job.facts.port)
        except ConnectionError:
            return [0]
        try:
            async with asyncio.timeout(patience):
                writer.write(data)
                while len(answers.statuses) < wanted and (received := await reader.read(65536)):
                    answers.feed(received)
        except (TimeoutError, ConnectionError, httptools.HttpParserError) as error:
            if isinstance(error, TimeoutError) and patience == TIMEOUT:
                answers.statuses.append(0)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
        return answers.statuses

    def _note(self, kind: str, status: str, number: int) -> None:
        self.counts[kind][status] += 1
        if (status.startswith("5") or status == "0") and len(self.faults) < FAULTS_KEPT:
            self.faults.append([self._job.client, number, kind, status])

    def line(self) -> str:
        return json.dumps({"counts": self.counts, "faults": self.faults})


async def main(job: Job) -> None:
    client = Client(job)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, client.full_speed.clear)
    loop.add_signal_handler(signal.SIGUSR2, client.full_speed.set)
    running = asyncio.create_task(client.run())
    while not running.done():
        await asyncio.wait([running], timeout=1)
        if client.is_done:
            client.full_speed.set()
        print(client.line(), flush=True)
    await running


if __name__ == "__main__":
    uvloop.run(main(pickle.loads(Path(sys.argv[1]).read_bytes())))  # noqa: S301  the main process wrote it
