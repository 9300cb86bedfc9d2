"""A reader of a door for the tests: it reads as the studio does, and compares every look with a count."""

from datetime import timedelta
from uuid import UUID

from gatepass.base.database import Database, Tx
from gatepass.domain import door
from gatepass.domain.door import Horizon, Tally
from gatepass.domain.keys import Mode
from tests.make import House, now

EVER = now() - timedelta(days=400)


def reader_of(house: House, mode: Mode = Mode.LIVE, event_id: UUID | None = None) -> "Reader":
    return Reader(house.db, (house.id, mode, event_id or house.event_id))


class Reader:
    """What a process does that shows a door: a count, then only what is fresh."""

    def __init__(self, db: Database, place: tuple[UUID, Mode, UUID]) -> None:
        self.db, self.place = db, place
        self.horizon = Horizon()
        self.tally: Tally

    async def begin(self) -> Tally:
        self.tally = await self._counted()
        return self.tally

    async def look(self) -> Tally:
        """Add what came, in the very snapshot in which it is counted anew, and compare."""
        at = now()
        async with self.db.transaction() as tx:
            await door.hold_still(tx)
            self.tally.add(await door.fresh(tx, *self.place, seen=self.tally.seen, since=self.horizon.since()))
            counted = await self._count(tx)
        self.horizon.looked(at, self.tally.seen)
        if not self.tally.needs_count:
            assert self.tally.differs_from(counted) == []
        self.tally = counted
        return counted

    async def _counted(self) -> Tally:
        at = now()
        async with self.db.transaction() as tx:
            await door.hold_still(tx)
            counted = await self._count(tx)
        self.horizon.looked(at, counted.seen)
        return counted

    async def _count(self, tx: Tx) -> Tally:
        counted = await door.count(tx, *self.place, since=EVER, at=now())
        return Tally.of(counted, await door.fresh(tx, *self.place, seen=counted.snapshot, since=now()))
