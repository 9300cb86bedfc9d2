"""The letter writer: writes notices and announcements as letters, batch by batch, beside the deliveries.

Each batch is one transaction that locks what it takes, so that several workers never write the same letter. Another
part of the worker sends them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database, Tx
from gatepass.base.settings import Settings
from gatepass.domain import announcements
from gatepass.domain.mailings import CardLetters
from gatepass.domain.notice_letters import attention, credentials
from gatepass.domain.staff.webauthn import relying_party
from gatepass.worker.steps import keep_stepping

# Somebody whose account is broken into should read of it soon.
IDLE_SECONDS: Final = 1.0
# Endpoints fail for a quarter of an hour before a letter, and keys end in days.
ATTENTION_EVERY: Final = 60.0


class LetterWriter:
    def __init__(self, db: Database, settings: Settings, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._card_letters = CardLetters.of(settings)
        self._mailer = self._card_letters.mailer
        self._origin = relying_party(settings.public_url).origin
        self._attention_at = float("-inf")

    async def run(self) -> None:
        await keep_stepping(self.step, IDLE_SECONDS, "writing letters failed")

    async def step(self) -> bool:
        """Write one batch of each kind; return whether there may be more."""
        at = self._clock()
        written = await self._batch(lambda tx: credentials.write_some(tx, self._mailer, origin=self._origin, at=at))
        written += await self._batch(lambda tx: announcements.write_some(tx, self._card_letters, at=at))
        now = asyncio.get_running_loop().time()
        if now - self._attention_at >= ATTENTION_EVERY:
            about = [attention.write_of_endpoints, attention.write_of_keys]
            for write in about:
                written += await self._batch(
                    lambda tx, write=write: write(tx, self._mailer, origin=self._origin, at=at)
                )
            self._attention_at = now
        return written > 0

    async def _batch(self, write: Callable[[Tx], Awaitable[int]]) -> int:
        async with self._db.transaction() as tx:
            return await write(tx)
