"""A watch: one event's door, read for everybody in this process who looks at it, and by nobody when nobody does."""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from gatepass.base.clock import Clock
from gatepass.base.database import Database, Tx
from gatepass.base.ids import new_id
from gatepass.base.log import logger
from gatepass.base.refusals import Refusal
from gatepass.domain import door, events, sandbox
from gatepass.domain.door import Horizon, RecentScan, Tally
from gatepass.domain.events import Event
from gatepass.domain.keys import Mode
from gatepass.studio.metrics import Metrics

# From a scan to the screens takes half of this on average, and this at most.
TICK: Final = 0.4
# Told anew although nothing came: minutes pass, scanners fall silent, and a line that is dead is noticed.
BEAT: Final = 5.0
# The safety net. Counts of a very large event come less often: they may take this share of a core.
COUNT_EVERY: Final = 60.0
COUNT_SHARE: Final = 0.02
# Somebody took something back, and waits for the figure: sooner, but never back to back.
COUNT_SOONEST: Final = 2.0
COUNT_SOONEST_SHARE: Final = 0.2
# After a longer pause than this a count is cheaper than reading what came.
STALE: Final = 30.0
EVER: Final = datetime(1, 1, 1, tzinfo=UTC)

log = logger(__name__)


class Place(NamedTuple):
    organization_id: UUID
    mode: Mode
    event_id: UUID


@dataclass(frozen=True, slots=True)
class Figures:
    """What a door says at one moment. `settling`: something was taken back, and a count is on its way."""

    at: datetime
    event: Event
    tally: Tally
    recent: list[RecentScan]
    settling: bool


class Watch:
    def __init__(self, db: Database, clock: Clock, place: Place, metrics: Metrics) -> None:
        self._db = db
        self._clock = clock
        self._place = place
        self._metrics = metrics
        self._one_at_a_time = asyncio.Lock()
        self._horizon = Horizon()
        self._tally: Tally | None = None
        self._counted_since = EVER
        self._counted_at = self._looked_at = -STALE
        self._count_took = 0.0
        self._event: Event | None = None
        self._recent: list[RecentScan] = []
        self._task: asyncio.Task[None] | None = None
        # Told apart from the watch of another process, or of an hour ago, when somebody comes back.
        self.name = new_id().hex[-8:]
        self.version = 0
        self.figures: Figures | None = None
        self.listeners: set[asyncio.Event] = set()

    # ---- listening -------------------------------------------------------------------------------------------

    def join(self, listener: asyncio.Event) -> None:
        """`listener` is set whenever there is something new. The first to come makes the watch go."""
        self.listeners.add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._go_on())

    def leave(self, listener: asyncio.Event) -> None:
        self.listeners.discard(listener)

    async def close(self) -> None:
        self.listeners.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    @property
    def is_idle(self) -> bool:
        return not self.listeners and time.monotonic() - self._looked_at > STALE

    async def _go_on(self) -> None:
        while self.listeners:
            began = time.monotonic()
            try:
                await self.look()
            except Refusal as trouble:
                # The database is away or busy. Whatever is there afterwards is counted anew.
                log.warning("door not read", code=trouble.code, event_id=str(self._place.event_id))
                self._tally = None
                self._say(None)
            except Exception:
                log.exception("door not read", event_id=str(self._place.event_id))
                self._tally = None
                self._say(None)
                await asyncio.sleep(BEAT)
            await asyncio.sleep(max(TICK - (time.monotonic() - began), TICK / 4))

    # ---- looking ---------------------------------------------------------------------------------------------

    async def look(self, *, if_older_than: float = 0) -> None:
        """Read what came, or count."""
        async with self._one_at_a_time:
            if time.monotonic() - self._looked_at < if_older_than and self.figures is not None:
                return
            at = self._clock()
            if self._tally is None or self._count_is_due(at):
                came = await self._count(at)
            else:
                came = await self._read()
            self._horizon.looked(at, self._tally_now.seen)
            self._looked_at = time.monotonic()
            if came or self.figures is None or at - self.figures.at >= timedelta(seconds=BEAT):
                self._say(self._figures(at))

    def _count_is_due(self, at: datetime) -> bool:
        waited, gap = time.monotonic() - self._counted_at, time.monotonic() - self._looked_at
        if gap >= STALE or self._since(at) != self._counted_since:
            return True
        if self._tally_now.needs_count and waited >= max(COUNT_SOONEST, self._count_took / COUNT_SOONEST_SHARE):
            return True
        return waited >= max(COUNT_EVERY, self._count_took / COUNT_SHARE)

    async def _read(self) -> bool:
        """Add what came; whether anything did."""
        before = self._tally_now.categories, self._tally_now.status, self._tally_now.needs_count
        async with self._db.reading() as tx:
            now = await door.fresh(tx, *self._place, seen=self._tally_now.seen, since=self._horizon.since())
            if now.came:
                self._recent = await door.recent(tx, *self._place)
        self._tally_now.add(now)
        if self._tally_now.needs_count and self._count_is_due(self._clock()):
            await self._count(self._clock())
            return True
        return bool(now.came) or before != (now.categories or before[0], now.status, self._tally_now.needs_count)

    async def _count(self, at: datetime) -> bool:
        """Count all of it, in the same snapshot as what came since the last look, and compare."""
        began, since = time.monotonic(), self._since(at)
        async with self._db.transaction() as tx:
            await door.hold_still(tx)
            counted = await door.count(tx, *self._place, since=since, at=at)
            seen, back_to = (self._tally.seen, self._horizon.since()) if self._tally else (counted.snapshot, at)
            now = await door.fresh(tx, *self._place, seen=seen, since=back_to)
            self._event = await self._found(tx)
            self._recent = await door.recent(tx, *self._place)
        fresh = Tally.of(counted, now)
        if self._tally is not None and since == self._counted_since:
            self._compare(self._tally, now, fresh)
        self._tally, self._counted_since, self._counted_at = fresh, since, time.monotonic()
        self._count_took = self._counted_at - began
        return True

    def _compare(self, kept: Tally, now: door.Fresh, counted: Tally) -> None:
        kept.add(now)
        if not kept.needs_count and (differing := kept.differs_from(counted)):
            self._metrics.disagreements.inc()
            log.error("a door was not what its table says", differing=differing, event_id=str(self._place.event_id))

    async def _found(self, tx: Tx) -> Event:
        if self._place.mode is Mode.SANDBOX:
            return sandbox.find(self._place.event_id).event
        return (await events.find(tx, self._place.organization_id, self._place.event_id)).event

    def _since(self, at: datetime) -> datetime:
        """A live event is counted whole; of the sandbox, where there is no end to it, today is."""
        return EVER if self._place.mode is Mode.LIVE else at.replace(hour=0, minute=0, second=0, microsecond=0)

    def _figures(self, at: datetime) -> Figures:
        assert self._event is not None  # noqa: S101  counting found it
        return Figures(at, self._event, self._tally_now, self._recent, self._tally_now.needs_count)

    @property
    def _tally_now(self) -> Tally:
        assert self._tally is not None  # noqa: S101  counted before anything else
        return self._tally

    def _say(self, figures: Figures | None) -> None:
        """Tell the listeners; None when the door cannot be read."""
        self.figures = figures
        self.version += 1
        for listener in self.listeners:
            listener.set()
