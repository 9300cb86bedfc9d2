"""A reader of live totals for the tests: it reads as the studio does, and compares every delta with a full count."""

from datetime import timedelta
from uuid import UUID

from gatepass.base.database import Database, Tx
from gatepass.domain import live
from gatepass.domain.keys import Mode
from gatepass.domain.live import Lookback, Totals
from gatepass.domain.twin import twin_id
from tests.factory import Tenant, now

EVER = now() - timedelta(days=400)


def reader_of(tenant: Tenant, mode: Mode = Mode.LIVE, event_id: UUID | None = None) -> "Reader":
    tenant_id = tenant.id if mode is Mode.LIVE else twin_id(tenant.id)
    return Reader(tenant.db, (tenant_id, mode, event_id or tenant.event_id))


class Reader:
    """Does what a process with a live page does: one full count, then deltas."""

    def __init__(self, db: Database, place: tuple[UUID, Mode, UUID]) -> None:
        self.db, self.place = db, place
        self.lookback = Lookback()
        self.totals: Totals

    async def begin(self) -> Totals:
        self.totals = await self._counted()
        return self.totals

    async def look(self) -> Totals:
        """Add the deltas in the same snapshot in which everything is counted again, and compare."""
        at = now()
        async with self.db.transaction() as tx:
            await live.repeatable_read(tx)
            self.totals.add(await live.read_deltas(tx, *self.place, seen=self.totals.seen, since=self.lookback.since()))
            counted = await self._count(tx)
        self.lookback.looked(at, self.totals.seen)
        if not self.totals.needs_count:
            assert self.totals.differs_from(counted) == []
        self.totals = counted
        return counted

    async def _counted(self) -> Totals:
        at = now()
        async with self.db.transaction() as tx:
            await live.repeatable_read(tx)
            counted = await self._count(tx)
        self.lookback.looked(at, counted.seen)
        return counted

    async def _count(self, tx: Tx) -> Totals:
        counted = await live.count(tx, *self.place, since=EVER, at=now())
        return Totals.of(counted, await live.read_deltas(tx, *self.place, seen=counted.snapshot, since=now()))
