"""The import runner: runs imports step by step, beside the deliveries, without delaying them.

Each step locks the row of its import, so that several workers run different imports, and never the same one.
"""

from datetime import timedelta
from typing import Final

from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.base.server_clock import ServerClock
from gatepass.domain import imports
from gatepass.domain.imports import Import
from gatepass.worker.steps import keep_stepping

# A person watches the progress bar.
IDLE_SECONDS: Final = 0.3
# The delay after an unexpected error.
LATER: Final = timedelta(seconds=30)


class ImportRunner:
    def __init__(self, db: Database, clock: ServerClock) -> None:
        self._db = db
        self._clock = clock

    async def run(self) -> None:
        await keep_stepping(self._step, IDLE_SECONDS, "import step failed")

    async def _step(self) -> bool:
        """Run one step of the import that has waited longest; return whether there was one."""
        job: Import | None = None
        try:
            async with self._db.transaction() as tx:
                job = await imports.next_under_way(tx)
                if job is not None:
                    await imports.advance(tx, job, at=await self._clock.agreed(tx))
        except NotNow:
            raise
        except Exception:
            if job is not None:
                async with self._db.transaction() as tx:
                    await imports.put_off(tx, job, at=self._clock() + LATER)
            raise
        return job is not None
