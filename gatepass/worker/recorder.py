"""The recorder writes the results of attempts, many at a time.

While the database is away a result is tried again until its lease has expired: then another worker has the message.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from gatepass.base.batcher import Batcher
from gatepass.base.errors import NotNow
from gatepass.base.log import logger
from gatepass.domain.webhooks.queue import Result

BATCH: Final = 256
# Batches that are written at a time; the second begins when it is full.
FLIGHTS: Final = 2
# From the beginning of a batch to that of the next, unless that is full. Larger batches cost less a message.
APART: Final = 0.01
RETRY_SECONDS: Final = 0.5

log = logger(__name__)
Leased = tuple[Result, float]


class Recorder:
    """`write` takes a batch. `lapsed` gets the number of results that were given up."""

    def __init__(
        self, write: Callable[[Sequence[Result]], Awaitable[None]], lapsed: Callable[[int], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._write = write
        self._lapsed = lapsed
        self._monotonic = monotonic
        self._results: Batcher[Leased, None] = Batcher(
            self._record, batch=BATCH, flights=FLIGHTS, apart=APART, monotonic=monotonic
        )

    def __len__(self) -> int:
        """Results that are not written yet."""
        return len(self._results)

    def add(self, result: Result, lapses_at: float) -> None:
        self._results.add((result, lapses_at)).add_done_callback(lambda written: _log_failure(written, result))

    async def drain(self) -> None:
        """Wait until every result is written or given up."""
        await self._results.drain()

    async def _record(self, batch: Sequence[Leased]) -> Sequence[None]:
        ours = batch
        while ours:
            try:
                await self._write([result for result, _ in ours])
                break
            except NotNow:
                await asyncio.sleep(RETRY_SECONDS)
                left = [leased for leased in ours if leased[1] > self._monotonic()]
                self._lapsed(len(ours) - len(left))
                ours = left
        return [None] * len(batch)


def _log_failure(written: "asyncio.Future[None]", result: Result) -> None:
    if error := written.exception():
        log.error("an attempt cannot be recorded", delivery=str(result.claimed.delivery_id), exc_info=error)
