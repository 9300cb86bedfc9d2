"""Chores: what the house needs besides deliveries. Of all workers, one at a time does them."""

import asyncio
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.log import logger
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain import upkeep
from gatepass.domain.webhooks import backlog
from gatepass.worker.metrics import Metrics

# Somebody may be waiting for what follows a cancelled event, a pause or a replay.
EVERY: Final = 1.0
UPKEEP_EVERY: Final = 60.0
AGES_EVERY: Final = 10.0
# Who has not had a turn for so long no longer knows.
SILENT_AFTER: Final = 30.0

log = logger(__name__)


class Chores:
    def __init__(self, db: Database, metrics: Metrics, clock: Clock) -> None:
        self._db = db
        self._metrics = metrics
        self._clock = clock
        self._due: dict[str, float] = {}

    async def keep_doing(self) -> None:
        while True:
            try:
                await self._do()
            except (Unavailable, Overloaded):
                pass  # the next round finds the database back
            except Exception:
                log.exception("a chore stumbled")
            await asyncio.sleep(EVERY)

    async def _do(self) -> None:
        async with upkeep.turn(self._db) as mine:
            if not mine:
                if self._is_due("silence", SILENT_AFTER):
                    self._metrics.tell_ages([])
                return
            self._due["silence"] = asyncio.get_running_loop().time() + SILENT_AFTER
            await upkeep.follow_up(self._db, at=self._clock())
            if self._is_due("ages", AGES_EVERY):
                async with self._db.reading() as tx:
                    self._metrics.tell_ages(await backlog.ages(tx))
            if self._is_due("upkeep", UPKEEP_EVERY):
                await upkeep.keep(self._db, at=self._clock())

    def _is_due(self, chore: str, seconds: float) -> bool:
        now = asyncio.get_running_loop().time()
        if now < self._due.get(chore, 0):
            return False
        self._due[chore] = now + seconds
        return True
