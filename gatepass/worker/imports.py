"""Importing: imports are taken further step by step, beside the deliveries and never in their way.

Each step holds its import's own row, so that several workers can each take another import further, and none takes
the same.
"""

import asyncio
from datetime import timedelta
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.log import logger
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.domain import imports
from gatepass.domain.imports import Import

# Somebody looks at the progress bar.
IDLE_SECONDS: Final = 0.3
# After a step that failed for no reason that we know.
LATER: Final = timedelta(seconds=30)

log = logger(__name__)


class Importing:
    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def keep_doing(self) -> None:
        while True:
            try:
                worked = await self._step()
            except (Unavailable, Overloaded):
                worked = False  # the next step finds the database back
            except Exception:
                worked = False
                log.exception("an import stumbled")
            await asyncio.sleep(0 if worked else IDLE_SECONDS)

    async def _step(self) -> bool:
        """One step of the import that has waited longest; whether there was one."""
        job: Import | None = None
        try:
            async with self._db.transaction() as tx:
                job = await imports.next_under_way(tx)
                if job is not None:
                    await imports.advance(tx, job, at=self._clock())
        except (Unavailable, Overloaded):
            raise
        except Exception:
            if job is not None:
                async with self._db.transaction() as tx:
                    await imports.put_off(tx, job, at=self._clock() + LATER)
            raise
        return job is not None
