"""Reads the figures of one event for all viewers in this process. Without viewers it reads nothing."""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from gatepass.base.clock import Clock
from gatepass.base.database import Database, Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.base.log import logger
from gatepass.domain import events, incidents, live, sandbox
from gatepass.domain.events import Event
from gatepass.domain.incidents import IncidentKind
from gatepass.domain.keys import Mode
from gatepass.domain.live import Lookback, RecentScan, Totals
from gatepass.studio.services.metrics import Metrics

# Seconds between two reads. A scan is on the screens after half of this on average, and after this at most.
TICK: Final = 0.4
# Figures are sent at least this often, even without scans: minutes pass, scanners fall silent, and viewers notice a
# dead connection.
BEAT: Final = 5.0
# The safety net: a full count once a minute. Counts of a very large event are rarer, and take this share of a core.
COUNT_EVERY: Final = 60.0
COUNT_SHARE: Final = 0.02
# After an undo somebody waits for the figure: the count comes sooner, but never back to back.
COUNT_SOONEST: Final = 2.0
COUNT_SOONEST_SHARE: Final = 0.2
# After a longer pause than this a full count is cheaper than reading what is new.
STALE: Final = 30.0
EVER: Final = datetime(1, 1, 1, tzinfo=UTC)

log = logger(__name__)


class EventRef(NamedTuple):
    organization_id: UUID
    mode: Mode
    event_id: UUID

    @property
    def is_fictional(self) -> bool:
        return self.mode is Mode.SANDBOX and self.event_id == sandbox.EVENT_ID


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures at one moment. `settling`: something was undone, and a full count is due."""

    at: datetime
    event: Event
    tally: Totals
    recent: list[RecentScan]
    settling: bool
    incidents: dict[IncidentKind, int]


class LiveWatcher:
    def __init__(self, db: Database, clock: Clock, event_ref: EventRef, metrics: Metrics) -> None:
        self._db = db
        self._clock = clock
        self._event_ref = event_ref
        self._metrics = metrics
        self._lock = asyncio.Lock()
        self._horizon = Lookback()
        self._tally: Totals | None = None
        self._counted_since = EVER
        self._counted_at = self._looked_at = -STALE
        self._count_took = 0.0
        self._event: Event | None = None
        self._recent: list[RecentScan] = []
        self._incidents: dict[IncidentKind, int] = {}
        self._task: asyncio.Task[None] | None = None
        # Tells this watcher from one of another process, or of an hour ago, when a browser reconnects.
        self.name = new_id().hex[-8:]
        self.version = 0
        self.figures: Figures | None = None
        self.listeners: set[asyncio.Event] = set()

    # ---- listening -------------------------------------------------------------------------------------------

    def join(self, listener: asyncio.Event) -> None:
        """`listener` is set whenever there are new figures. The first listener starts the reading."""
        self.listeners.add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

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

    async def _run(self) -> None:
        while self.listeners:
            began = time.monotonic()
            try:
                await self.look()
            except Refusal as refusal:
                # The database is away or busy. Start again with a full count.
                log.warning("live figures not read", code=refusal.code, event_id=str(self._event_ref.event_id))
                self._tally = None
                self._publish(None)
            except Exception:
                log.exception("live figures not read", event_id=str(self._event_ref.event_id))
                self._tally = None
                self._publish(None)
                await asyncio.sleep(BEAT)
            await asyncio.sleep(max(TICK - (time.monotonic() - began), TICK / 4))

    # ---- looking ---------------------------------------------------------------------------------------------

    async def look(self, *, if_older_than: float = 0) -> None:
        """Read what is new, or count all."""
        async with self._lock:
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
                self._publish(self._figures(at))

    def _count_is_due(self, at: datetime) -> bool:
        waited, gap = time.monotonic() - self._counted_at, time.monotonic() - self._looked_at
        if gap >= STALE or self._since(at) != self._counted_since:
            return True
        if self._tally_now.needs_count and waited >= max(COUNT_SOONEST, self._count_took / COUNT_SOONEST_SHARE):
            return True
        return waited >= max(COUNT_EVERY, self._count_took / COUNT_SHARE)

    async def _read(self) -> bool:
        """Add what is new. True if anything changed."""
        before = self._tally_now.categories, self._tally_now.status, self._tally_now.needs_count
        incidents_before = self._incidents
        async with self._db.autocommit() as tx:
            now = await live.read_deltas(tx, *self._event_ref, seen=self._tally_now.seen, since=self._horizon.since())
            if now.scans:
                self._recent = await live.recent(tx, *self._event_ref)
            await self._count_incidents(tx)
        self._tally_now.add(now)
        if self._tally_now.needs_count and self._count_is_due(self._clock()):
            await self._count(self._clock())
            return True
        if self._incidents != incidents_before:
            return True
        return bool(now.scans) or before != (now.categories or before[0], now.status, self._tally_now.needs_count)

    async def _count(self, at: datetime) -> bool:
        """Count all, in the same snapshot as what is new since the last read, and compare."""
        began, since = time.monotonic(), self._since(at)
        async with self._db.transaction() as tx:
            await live.repeatable_read(tx)
            counted = await live.count(tx, *self._event_ref, since=since, at=at)
            seen, back_to = (self._tally.seen, self._horizon.since()) if self._tally else (counted.snapshot, at)
            now = await live.read_deltas(tx, *self._event_ref, seen=seen, since=back_to)
            self._event = await self._found(tx)
            self._recent = await live.recent(tx, *self._event_ref)
            await self._count_incidents(tx)
        fresh = Totals.of(counted, now)
        if self._tally is not None and since == self._counted_since:
            self._compare(self._tally, now, fresh)
        self._tally, self._counted_since, self._counted_at = fresh, since, time.monotonic()
        self._count_took = self._counted_at - began
        return True

    async def _count_incidents(self, tx: Tx) -> None:
        """Open ones, by their index: few, and mostly none."""
        organization_id, _, event_id = self._event_ref
        self._incidents = await incidents.count_open(tx, organization_id, event_id)

    def _compare(self, kept: Totals, now: live.Deltas, counted: Totals) -> None:
        kept.add(now)
        if not kept.needs_count and (differing := kept.differs_from(counted)):
            self._metrics.disagreements.inc()
            log.error(
                "live figures differ from a count of the table",
                differing=differing,
                event_id=str(self._event_ref.event_id),
            )

    async def _found(self, tx: Tx) -> Event:
        if self._event_ref.is_fictional:
            return sandbox.CATALOGUE_ENTRY.event
        return (await events.find(tx, self._event_ref.organization_id, self._event_ref.event_id)).event

    def _since(self, at: datetime) -> datetime:
        """An event is counted whole. The fictional one never ends, so only today is counted."""
        return at.replace(hour=0, minute=0, second=0, microsecond=0) if self._event_ref.is_fictional else EVER

    def _figures(self, at: datetime) -> Figures:
        assert self._event is not None  # noqa: S101  the count found it
        settling = self._tally_now.needs_count
        return Figures(at, self._event, self._tally_now, self._recent, settling, self._incidents)

    @property
    def _tally_now(self) -> Totals:
        assert self._tally is not None  # noqa: S101  counted before anything else
        return self._tally

    def _publish(self, figures: Figures | None) -> None:
        """Wake the listeners. None: the figures cannot be read."""
        self.figures = figures
        self.version += 1
        for listener in self.listeners:
            listener.set()
