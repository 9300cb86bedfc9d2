"""Reads the manifest of one event from PostgreSQL: whole, or what changed; and compares both once a minute."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.api.manifests.metrics import ManifestMetrics
from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.encryption import Vault
from gatepass.base.log import logger
from gatepass.domain import live, manifest, twin
from gatepass.domain.live import Lookback
from gatepass.domain.manifest import CollisionError, Cursor, ForeignServerError, Manifest, NotPreparedError

# The safety net: all of it is made anew once a minute. That of a very large event is rarer, and takes this share of a
# core.
WHOLE_EVERY: Final = 60.0
WHOLE_SHARE: Final = 0.02
# After a longer pause than this, in seconds, a whole manifest is cheaper than what changed.
STALE: Final = 600.0
# A device that was away for longer gets the whole manifest: it costs less than to look through hours of scans.
OLDEST: Final = timedelta(hours=2)
# Seconds: the longest that a stream outlives its device's key.
KEYS_EVERY: Final = 10.0
# A second collision has a chance of one in ten thousand, and a third is a fault of ours.
MOST_DRAWS: Final = 3

log = logger(__name__)


class EventRef(NamedTuple):
    """The organization is the tenant: a twin, for devices of the sandbox."""

    organization_id: UUID
    event_id: UUID


class Following(Protocol):
    key_id: UUID
    woken: asyncio.Event
    ended: bool


@dataclass(frozen=True)
class Reading:
    """A manifest, and what is needed to send it."""

    manifest: Manifest
    since: datetime
    key: SigningKey
    at: datetime

    @cached_property
    def cursor_text(self) -> str:
        return self.manifest.cursor(self.since).text()


class ManifestSource:
    def __init__(
        self,
        db: Database,
        clock: Clock,
        vault: Callable[[], Vault],
        makers: asyncio.Semaphore,
        metrics: ManifestMetrics,
        ref: EventRef,
    ) -> None:
        self._db, self._clock, self._vault, self._ref = db, clock, vault, ref
        # How many manifests are made at once in this process.
        self._makers = makers
        self._metrics = metrics
        self._lookback = Lookback()
        self._key: SigningKey | None = None
        self._whole_at = self._read_at = self._checked_at = 0.0
        self._whole_took = 0.0

    def is_too_old(self, cursor: Cursor) -> bool:
        return cursor.since < self._clock() - OLDEST

    async def next(self, last: Reading | None) -> tuple[Reading, set[bytes] | None]:
        """The manifest now, and the hashes of what differs from the last one; None if it does not follow from it."""
        now = time.monotonic()
        if last is None or now - self._read_at >= STALE:
            return await self._whole(), None
        try:
            if now - self._whole_at >= max(WHOLE_EVERY, self._whole_took / WHOLE_SHARE):
                return await self._compared(last)
            return await self._advanced(last)
        except (ForeignServerError, CollisionError, NotPreparedError):
            return await self._whole(), None

    async def changed_since(self, current: Manifest, cursor: Cursor) -> set[bytes]:
        """The cards that changed since a cursor which this process has not given out, or has forgotten."""
        async with self._makers, self._db.transaction() as tx:
            await live.repeatable_read(tx)
            changed = await manifest.read_changes(
                tx, *self._ref, current.content, seen=cursor.snapshot, since=cursor.since
            )
        return {card.hash for card in changed}

    async def end_listeners(self, listeners: Iterable[Following]) -> None:
        """End the streams of devices whose key has ended, or that work for another event now."""
        if time.monotonic() - self._checked_at < KEYS_EVERY:
            return
        self._checked_at = time.monotonic()
        followed = list(listeners)
        owner_id = twin.owner_of(self._ref.organization_id)
        async with self._db.autocommit() as tx:
            key_ids = {one.key_id for one in followed}
            open_keys = await manifest.open_keys(tx, owner_id, self._ref.event_id, key_ids, at=self._clock())
        for one in followed:
            if one.key_id not in open_keys:
                one.ended = True
                one.woken.set()

    async def _advanced(self, last: Reading) -> tuple[Reading, set[bytes]]:
        began, at = time.monotonic(), self._clock()
        async with self._db.transaction() as tx:
            await live.repeatable_read(tx)
            found, differing = await manifest.advance(tx, *self._ref, last.manifest, since=last.since, at=at)
        return await self._reading(found, at, began), differing

    async def _compared(self, last: Reading) -> tuple[Reading, set[bytes]]:
        """Both ways in one snapshot. If they differ, what was made anew is right, and something was not recorded."""
        began, at = time.monotonic(), self._clock()
        async with self._makers, self._db.transaction() as tx:
            await live.repeatable_read(tx)
            found, differing = await manifest.advance(tx, *self._ref, last.manifest, since=last.since, at=at)
            fresh = await manifest.read(tx, *self._ref, at=at)
        self._whole_at, self._whole_took = time.monotonic(), time.monotonic() - began
        missed = found.records.differing(fresh.records)
        if missed:
            self._metrics.disagreements.inc()
            log.error("a manifest differs from its event", records=len(missed), event_id=str(self._ref.event_id))
        return await self._reading(fresh, at, began), differing | missed

    async def _whole(self) -> Reading:
        """Made anew. A salt under which two cards have the same hash is drawn again."""
        self._lookback = Lookback()
        for _ in range(MOST_DRAWS):
            began, at = time.monotonic(), self._clock()
            try:
                async with self._makers, self._db.transaction() as tx:
                    await live.repeatable_read(tx)
                    found = await manifest.read(tx, *self._ref, at=at)
            except NotPreparedError:
                await self._prepare(at)
            except CollisionError:
                async with self._db.transaction() as tx:
                    await manifest.draw_again(tx, *self._ref, at=at)
            else:
                self._metrics.made.inc()
                self._whole_at, self._whole_took = time.monotonic(), time.monotonic() - began
                return await self._reading(found, at, began)
        raise CollisionError

    async def _reading(self, found: Manifest, at: datetime, began: float) -> Reading:
        self._lookback.looked(at, found.snapshot)
        self._read_at = began
        if self._key is None or bytes(self._key.verify_key) != found.content.keys[0].public_key:
            self._key = await self._prepare(at)
        return Reading(found, self._lookback.since(), self._key, at)

    async def _prepare(self, at: datetime) -> SigningKey:
        async with self._db.transaction() as tx:
            return await manifest.prepare(tx, *self._ref, self._vault(), at=at)
