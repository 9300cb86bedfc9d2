"""Follows an event as a process does, and compares every look with a fresh manifest of the same snapshot."""

from datetime import datetime
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import live, manifest
from gatepass.domain.live import Lookback
from gatepass.domain.manifest import Manifest, salt
from tests.domain.manifest.reader import expected_records
from tests.factory import Tenant, now


class TestFollower:
    __test__ = False

    def __init__(self, db: Database, organization_id: UUID, event_id: UUID) -> None:
        self.db, self.place = db, (organization_id, event_id)
        self.lookback = Lookback()
        self.since: datetime
        self.manifest: Manifest

    @classmethod
    async def of(cls, tenant: Tenant, *, db: Database | None = None) -> "TestFollower":
        made = cls(db or tenant.db, tenant.id, tenant.event_id)
        await made.begin()
        return made

    async def begin(self) -> Manifest:
        at = now()
        self.manifest = await self.read()
        self._looked(at)
        return self.manifest

    async def read(self) -> Manifest:
        """The manifest, made anew."""
        async with self.db.transaction() as tx:
            await salt.draw(tx, *self.place, at=now())
        async with self.db.transaction() as tx:
            await live.repeatable_read(tx)
            return await manifest.read(tx, *self.place, at=now())

    async def look(self, *, independently: bool = True) -> set[bytes]:
        """Advance. The same snapshot, read whole and by another program, has the same records."""
        at = now()
        async with self.db.transaction() as tx:
            await live.repeatable_read(tx)
            found, differing = await manifest.advance(tx, *self.place, self.manifest, since=self.since, at=at)
            fresh = await manifest.read(tx, *self.place, at=at)
            expected = await expected_records(tx, *self.place) if independently else fresh.records.body
        assert found.records.body == fresh.records.body == expected
        assert found.records.marks == fresh.records.marks
        self.manifest = found
        self._looked(at)
        return differing

    def _looked(self, at: datetime) -> None:
        self.lookback.looked(at, self.manifest.snapshot)
        self.since = self.lookback.since()
