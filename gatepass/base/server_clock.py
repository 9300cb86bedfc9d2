"""PostgreSQL's time, by which every job goes: the clock of a process may be wrong by years, and a job ends and deletes.

Between two readings it is kept going by a clock that nobody can set, so that it never runs ahead of PostgreSQL's.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from gatepass.base.clock import Clock, ClockSkew, system_clock
from gatepass.base.database import Database, Tx
from gatepass.base.errors import NotNow
from gatepass.base.log import logger

# Beyond this, jobs stop: one of the two clocks is wrong, and nobody can say which.
JOBS_WITHIN: Final = timedelta(seconds=30)
# Seconds between two readings, while nothing else reads.
READ_EVERY: Final = 5.0

log = logger(__name__)


class ClocksDiffer(Exception):  # noqa: N818  no answer to a call, and no fault of the code: a job waits
    """A job must not begin: nobody can say what time it is."""


class ServerClock:
    def __init__(self, own: Clock = system_clock, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.skew = ClockSkew(own)
        self._monotonic = monotonic
        self._read: tuple[datetime, float] | None = None
        self._first = asyncio.Event()
        self._stops_jobs = False

    async def first_reading(self) -> None:
        await self._first.wait()

    def __call__(self) -> datetime:
        """PostgreSQL's time, or a moment before: that of the last reading, and what has passed since its answer."""
        assert self._read is not None, "nothing begins before the first reading"  # noqa: S101
        moment, at = self._read
        return moment + timedelta(seconds=self._monotonic() - at)

    async def read(self, tx: Tx) -> datetime:
        """The earlier of both clocks."""
        asked = self.skew.own()
        server: datetime = await tx.value(NOW)
        self.skew.measure(asked, server)
        self._read = server, self._monotonic()
        self._first.set()
        self._tell()
        return min(asked, server)

    async def agreed(self, tx: Tx) -> datetime:
        """For a job: the earlier of both clocks, if they agree. What is due by it is due by both."""
        moment = await self.read(tx)
        if abs(self.skew.ahead) > JOBS_WITHIN:
            raise ClocksDiffer(f"{self.skew.difference()} Nothing was ended or deleted: see that both follow NTP.")
        return moment

    async def keep_reading(self, db: Database) -> None:
        """For the worker, which asks for the time without a connection."""
        while True:
            try:
                async with db.autocommit() as tx:
                    await self.read(tx)
            except NotNow:
                pass  # the next reading finds the database back
            except Exception:
                log.exception("reading PostgreSQL's clock failed")
            await asyncio.sleep(READ_EVERY if self._read is not None else 1)

    def _tell(self) -> None:
        stops_jobs = abs(self.skew.ahead) > JOBS_WITHIN
        if stops_jobs and not self._stops_jobs:
            log.error("jobs wait: the clocks differ", skew_seconds=self.skew.seconds())
        elif self._stops_jobs and not stops_jobs:
            log.warning("jobs go on: the clocks agree again")
        self._stops_jobs = stops_jobs


NOW: Final = "SELECT clock_timestamp()"
