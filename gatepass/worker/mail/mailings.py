"""The mailing runner: writes the letters of mailings step by step, beside everything else."""

from datetime import timedelta
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.domain import mailings
from gatepass.domain.mailings import CardLetters, Mailing
from gatepass.worker.steps import keep_stepping

IDLE_SECONDS: Final = 0.3
# The delay after an unexpected error.
LATER: Final = timedelta(seconds=30)


class MailingRunner:
    def __init__(self, db: Database, letters: CardLetters, clock: Clock) -> None:
        self._db = db
        self._letters = letters
        self._clock = clock

    async def run(self) -> None:
        await keep_stepping(self._step, IDLE_SECONDS, "step of a mailing failed")

    async def _step(self) -> bool:
        mailing: Mailing | None = None
        try:
            async with self._db.transaction() as tx:
                mailing = await mailings.next_under_way(tx, at=self._clock())
                if mailing is not None:
                    await mailings.advance(tx, mailing, self._letters, at=self._clock())
        except NotNow:
            raise
        except Exception:
            if mailing is not None:
                async with self._db.transaction() as tx:
                    await mailings.put_off(tx, mailing, at=self._clock() + LATER)
            raise
        return mailing is not None
