"""Writing down what came of attempts, many at a time.

While one batch is written, what arrives gathers; a lone result never waits. What cannot be written while the database
is away is tried again until its claim has lapsed: then another worker has the message.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from gatepass.base.log import logger
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain.webhooks.queue import Result

BATCH: Final = 256
# Batches that are written at a time; the second begins when it is full.
FLIGHTS: Final = 2
# From the beginning of a batch to that of the next, unless that is full. Larger batches cost less a message.
APART: Final = 0.01
PATIENCE: Final = 0.5

log = logger(__name__)
Noted = tuple[Result, float]


class Recorder:
    """`write` takes a batch. `lapsed` is told how many results were given up."""

    def __init__(
        self, write: Callable[[Sequence[Result]], Awaitable[None]], lapsed: Callable[[int], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._write = write
        self._lapsed = lapsed
        self._monotonic = monotonic
        self._waiting: deque[Noted] = deque()
        self._flights: set[asyncio.Task[None]] = set()
        self._in_flight = 0
        self._began = 0.0

    def __len__(self) -> int:
        """Results that are not written yet."""
        return len(self._waiting) + self._in_flight

    def note(self, result: Result, lapses_at: float) -> None:
        self._waiting.append((result, lapses_at))
        # One that has just ended is in the set for the rest of this turn of the loop, and takes nothing more along.
        flying = sum(not flight.done() for flight in self._flights)
        if not flying or (flying < FLIGHTS and len(self._waiting) >= BATCH):
            flight = asyncio.create_task(self._fly())
            self._flights.add(flight)
            flight.add_done_callback(self._flights.discard)

    async def drain(self) -> None:
        """Until everything is written or given up."""
        while self._flights:
            await asyncio.wait(self._flights)

    async def _fly(self) -> None:
        while self._waiting:
            wait = self._began + APART - self._monotonic()
            if wait > 0 and len(self._waiting) < BATCH:
                await asyncio.sleep(wait)
            self._began = self._monotonic()
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._in_flight += len(batch)
            try:
                await self._record(batch)
            finally:
                self._in_flight -= len(batch)

    async def _record(self, batch: list[Noted]) -> None:
        """Write a batch. If the database will not have it, its halves, until only the culprit is left out."""
        while batch:
            try:
                return await self._write([result for result, _ in batch])
            except (Unavailable, Overloaded):
                await asyncio.sleep(PATIENCE)
                ours = [noted for noted in batch if noted[1] > self._monotonic()]
                self._lapsed(len(batch) - len(ours))
                batch = ours
            except Exception:
                if len(batch) == 1:
                    log.exception("an attempt cannot be recorded", delivery=str(batch[0][0].claimed.delivery_id))
                    return None
                await self._record(batch[: len(batch) // 2])
                batch = batch[len(batch) // 2 :]
        return None
