"""Changes are found again: by who made them, of what, and when."""

from datetime import timedelta
from ipaddress import ip_address
from uuid import UUID

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.domain import changes
from gatepass.domain.changes import Entry, Wanted
from tests import make

MINUTE = timedelta(minutes=1)
NOW = make.now()
CARD, KEY = new_id(), new_id()


async def noted(db: Database) -> UUID:
    """An organization with four changes and no other."""
    organization_id = new_id()
    async with db.transaction() as tx:
        for n, (subject, subject_id, action, by) in enumerate(
            [
                ("card", CARD, "suspended", "ada"),
                ("card", CARD, "active", "bob"),
                ("key", KEY, "issued", "ada"),
                ("key", KEY, "revoked", "ada"),
            ]
        ):
            at = NOW - n * MINUTE
            await changes.note(tx, organization_id, subject, subject_id, action, by=by, at=at, reason="why")
    return organization_id


async def found(db: Database, organization_id: UUID, wanted: Wanted) -> list[str]:
    async with db.reading() as tx:
        entries, place = await changes.changes_of(tx, organization_id, wanted, limit=50)
    assert place is None
    return [entry.action for entry in entries]


async def test_each_filter_finds_its_own(db: Database) -> None:
    here = await noted(db)
    assert await found(db, here, Wanted()) == ["suspended", "active", "issued", "revoked"]
    assert await found(db, here, Wanted(actor="ada")) == ["suspended", "issued", "revoked"]
    assert await found(db, here, Wanted(actor="ada", subject="card")) == ["suspended"]
    assert await found(db, here, Wanted(subject="key")) == ["issued", "revoked"]
    assert await found(db, here, Wanted(subject_id=CARD)) == ["suspended", "active"]
    assert await found(db, here, Wanted(subject_id=CARD, actor="bob")) == ["active"]
    assert await found(db, here, Wanted(action="revoked")) == ["revoked"]
    assert await found(db, here, Wanted(since=NOW - MINUTE)) == ["suspended", "active"]
    assert await found(db, here, Wanted(until=NOW - MINUTE)) == ["issued", "revoked"]
    assert await found(db, here, Wanted(actor="eve")) == []
    assert await found(db, new_id(), Wanted()) == []


async def test_pages_follow_each_other(db: Database) -> None:
    here = await noted(db)
    place: Place | None = None
    seen: list[Entry] = []
    async with db.reading() as tx:
        for _ in range(2):
            page, place = await changes.changes_of(tx, here, Wanted(actor="ada"), after=place, limit=2)
            seen += page
    assert [entry.action for entry in seen] == ["suspended", "issued", "revoked"]
    assert place is None


async def test_a_change_tells_where_it_came_from(db: Database) -> None:
    here, address = new_id(), ip_address("2001:db8::7")
    async with db.transaction(address) as tx:
        await changes.note(tx, here, "key", KEY, "issued", by="ada", at=NOW)
    async with db.transaction() as tx:
        await changes.note(tx, here, "key", KEY, "revoked", by="ada", at=NOW + MINUTE)
        entries, _ = await changes.changes_of(tx, here, Wanted(), limit=5)
    assert [(entry.action, entry.address) for entry in entries] == [("revoked", None), ("issued", address)]
