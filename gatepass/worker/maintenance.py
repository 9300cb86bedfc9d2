"""Maintenance in the worker, beside the deliveries. Only one of all workers runs it at a time."""

import asyncio
from datetime import datetime
from typing import Final

from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.base.log import logger
from gatepass.base.server_clock import ClocksDiffer, ServerClock
from gatepass.domain import diagnostics, maintenance
from gatepass.domain.mail import queue as letters
from gatepass.domain.webhooks import backlog
from gatepass.worker.mail.metrics import MailMetrics
from gatepass.worker.metrics import WorkerMetrics
from gatepass.worker.wallets.runner import PassWalk

# People may wait for the follow-up of a cancelled event, a pause or a replay.
EVERY: Final = 1.0
ALL_EVERY: Final = 60.0
AGES_EVERY: Final = 10.0
# A worker that has not had the lock for this long stops exporting ages.
AGES_VALID_FOR: Final = 30.0
NONE_WAITING: Final = letters.Waiting(due=0, seconds=0.0)

log = logger(__name__)


class Maintenance:
    def __init__(
        self,
        db: Database,
        metrics: WorkerMetrics,
        mail_metrics: MailMetrics,
        clock: ServerClock,
        pass_walk: PassWalk | None = None,
    ) -> None:
        self._db = db
        self._metrics = metrics
        self._mail_metrics = mail_metrics
        self._clock = clock
        self._pass_walk = pass_walk
        self._due: dict[str, float] = {}

    async def run(self) -> None:
        while True:
            try:
                await self._step()
            except (NotNow, ClocksDiffer):
                pass  # the next round finds the database back, or the clocks agreed
            except Exception:
                log.exception("maintenance failed")
            await asyncio.sleep(EVERY)

    async def _step(self) -> None:
        try:
            await self._now()
        except ClocksDiffer:  # another worker can have the lock
            self._leave_ages()
            return
        async with maintenance.lock(self._db) as is_ours:
            if not is_ours:
                self._leave_ages()
                return
            self._due["ages expire"] = asyncio.get_running_loop().time() + AGES_VALID_FOR
            await maintenance.follow_up(self._db, at=await self._now())
            if self._pass_walk is not None:
                await self._pass_walk.step()
            if self._is_due("ages", AGES_EVERY):
                async with self._db.autocommit() as tx:
                    self._metrics.export_ages(await backlog.ages(tx))
                    self._mail_metrics.export(await letters.waiting(tx))
            if self._is_due("all", ALL_EVERY):
                await maintenance.run_due(self._db, at=await self._now())
                async with self._db.autocommit() as tx:
                    missing = await diagnostics.missing_partitions(tx)
                self._metrics.partitions_missing.set(len(missing))
        self._metrics.maintenance_rounds.inc()

    def _leave_ages(self) -> None:
        """Another worker exports them."""
        if self._is_due("ages expire", AGES_VALID_FOR):
            self._metrics.export_ages([])
            self._mail_metrics.export(NONE_WAITING)
            self._metrics.partitions_missing.set(0)

    async def _now(self) -> datetime:
        """Asked before each round: what a round ends or deletes is due by PostgreSQL's clock, and by this machine's."""
        async with self._db.autocommit() as tx:
            return await self._clock.agreed(tx)

    def _is_due(self, step: str, seconds: float) -> bool:
        now = asyncio.get_running_loop().time()
        if now < self._due.get(step, 0):
            return False
        self._due[step] = now + seconds
        return True
