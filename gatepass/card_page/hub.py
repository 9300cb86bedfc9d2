"""All card pages that are open in this process: one query a second for all of them, and limits on their number."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.errors import Refusal
from gatepass.base.log import logger
from gatepass.base.settings import Settings
from gatepass.card_page.metrics import Metrics
from gatepass.domain.card_view import CardRef, read_versions

# Fewer than the connections of a process, so that pages still open while every stream is taken. A page without a stream
# asks each 15 seconds.
MOST_STREAMS: Final = 3_000
# A phone, a tablet, a computer, and one that has not noticed yet that it is gone.
MOST_OF_CARD: Final = 4
# Seconds between two reads: a scan is on the phone after half of this on average.
TICK: Final = 1.0

log = logger(__name__)


class StreamHub:
    def __init__(self, settings: Settings, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self._metrics = metrics
        # A connection of its own, and one alone: this read must not wait for a page, nor a page for it.
        self._db = Database(
            settings.database_url.get_secret_value(),
            connections=1,
            deadline=settings.database_deadline,
            acquire_within=settings.acquire_within,
            name="gatepass card streams",
        )
        self._listeners: defaultdict[CardRef, set[asyncio.Event]] = defaultdict(set)
        self._versions: dict[CardRef, str] = {}
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self.open = 0
        self.reads = 0

    def has_room(self, card: CardRef) -> bool:
        return self.open < MOST_STREAMS and len(self._listeners.get(card, ())) < MOST_OF_CARD

    def version(self, card: CardRef) -> str | None:
        """What the last read found; None before the first one. A card that is gone has an empty one."""
        return self._versions.get(card)

    @asynccontextmanager
    async def listening(self, card: CardRef, listener: asyncio.Event) -> AsyncGenerator[None]:
        """`listener` is set whenever the card changes, and after the first read. The first listener starts it."""
        self._listeners[card].add(listener)
        self.open += 1
        self._metrics.streams.inc()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self.open -= 1
            self._metrics.streams.dec()
            self._listeners[card].discard(listener)
            if not self._listeners[card]:
                del self._listeners[card]
                self._versions.pop(card, None)

    def wake(self) -> None:
        """Wake every stream, so that it sees that the process stops."""
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.set()

    async def close(self) -> None:
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._db.close()

    async def _run(self) -> None:
        while self._listeners and not self._closed:
            began = time.monotonic()
            try:
                await self._read()
            except Refusal as refusal:  # the database is away or busy; pages ask by themselves meanwhile
                log.warning("card versions not read", code=refusal.code)
            except Exception:
                log.exception("card versions not read")
            await asyncio.sleep(max(TICK - (time.monotonic() - began), TICK / 4))

    async def _read(self) -> None:
        watched = list(self._listeners)
        async with self._db.autocommit() as tx:
            found = await read_versions(tx, watched, at=self._clock())
        self.reads += 1
        for card in watched:
            version = found.get(card, "")
            if card in self._listeners and self._versions.get(card) != version:
                self._versions[card] = version
                for listener in self._listeners[card]:
                    listener.set()
