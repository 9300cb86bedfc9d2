"""The catalogue as callers read it: reads that come together are one statement, and equal results are encoded once.

Nothing is answered from memory alone. The statement reads the events each time, and checks the key of each caller; what
is remembered are the bytes of a reply, under the very text that they were made of.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from gatepass.api.responses import Reply
from gatepass.base.batcher import Batcher
from gatepass.base.bounded_cache import BoundedCache
from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.tracing.batcher import batcher
from gatepass.base.tracing.tracer import Tracer
from gatepass.domain import events
from gatepass.domain.events import CatalogueQuestion

# A page may have a hundred events, each with fifty categories: a megabyte. So there are fewer of them than scans.
BATCH: Final = 64
MOST_WAITING: Final = 2_000
# At most 16 MB, with the texts. A larger reply is made each time.
MOST_REPLIES: Final = 256
LARGEST_REPLY: Final = 32 * 1024


class Catalogue:
    def __init__(self, db: Database, clock: Clock, tracer: Tracer | None = None) -> None:
        self._db = db
        self._clock = clock
        self._questions: Batcher[CatalogueQuestion, str | None] = batcher(
            self._read, "read_catalogue", tracer, batch=BATCH, waiting=MOST_WAITING, hurried=True
        )
        self._replies: BoundedCache[Hashable, Reply] = BoundedCache(MOST_REPLIES)

    async def read(self, question: CatalogueQuestion) -> str | None:
        """The events that the question finds, as text; None if its key has ended."""
        return await self._questions(question)

    def reply(self, made_of: Hashable, make: Callable[[], Reply]) -> Reply:
        """The reply that is made of this: the text that was read, and all else that it depends on."""
        reply = self._replies.get(made_of)
        if reply is None:
            reply = make()
            if len(reply.body) <= LARGEST_REPLY:
                self._replies[made_of] = reply
        return reply

    async def drain(self) -> None:
        await self._questions.drain()

    async def _read(self, questions: Sequence[CatalogueQuestion]) -> Sequence[str | None]:
        async with self._db.autocommit() as tx:
            return await events.read_batch(tx, questions, at=self._clock())
