"""Maintenance in the worker, beside the deliveries. Only one of all workers runs it at a time."""

import asyncio
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.base.log import logger
from gatepass.domain import diagnostics, maintenance
from gatepass.domain.webhooks import backlog
from gatepass.worker.metrics import WorkerMetrics

# People may wait for the follow-up of a cancelled event, a pause or a replay.
EVERY: Final = 1.0
ALL_EVERY: Final = 60.0
AGES_EVERY: Final = 10.0
# A worker that has not had the lock for this long stops exporting ages.
AGES_VALID_FOR: Final = 30.0

log = logger(__name__)


class Maintenance:
    def __init__(self, db: Database, metrics: WorkerMetrics, clock: Clock) -> None:
        self._db = db
        self._metrics = metrics
        self._clock = clock
        self._due: dict[str, float] = {}

    async def run(self) -> None:
        while True:
            try:
                await self._step()
            except NotNow:
                pass  # the next round finds the database back
            except Exception:
                log.exception("maintenance failed")
            await asyncio.sleep(EVERY)

    async def _step(self) -> None:
        async with maintenance.lock(self._db) as is_ours:
            if not is_ours:
                if self._is_due("ages expire", AGES_VALID_FOR):
                    self._metrics.export_ages([])
                    self._metrics.partitions_missing.set(0)
                return
            self._due["ages expire"] = asyncio.get_running_loop().time() + AGES_VALID_FOR
            await maintenance.follow_up(self._db, at=self._clock())
            if self._is_due("ages", AGES_EVERY):
                async with self._db.autocommit() as tx:
                    self._metrics.export_ages(await backlog.ages(tx))
            if self._is_due("all", ALL_EVERY):
                await maintenance.run_due(self._db, at=self._clock())
                async with self._db.autocommit() as tx:
                    missing = await diagnostics.missing_partitions(tx, at=self._clock())
                self._metrics.partitions_missing.set(len(missing))
        self._metrics.maintenance_rounds.inc()

    def _is_due(self, step: str, seconds: float) -> bool:
        now = asyncio.get_running_loop().time()
        if now < self._due.get(step, 0):
            return False
        self._due[step] = now + seconds
        return True
