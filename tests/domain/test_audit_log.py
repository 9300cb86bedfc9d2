"""The audit log is filtered by actor, subject, action and time."""

from datetime import timedelta
from ipaddress import ip_address
from uuid import UUID

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.domain import audit_log
from gatepass.domain.audit_log import AuditEntry, AuditFilter
from tests import factory

MINUTE = timedelta(minutes=1)
NOW = factory.now()
CARD, KEY = new_id(), new_id()


async def recorded(db: Database) -> UUID:
    """An organization with exactly four entries."""
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
            await audit_log.record(tx, organization_id, subject, subject_id, action, by=by, at=at, reason="why")
    return organization_id


async def found(db: Database, organization_id: UUID, wanted: AuditFilter) -> list[str]:
    async with db.autocommit() as tx:
        entries, place = await audit_log.entries_of(tx, organization_id, wanted, limit=50)
    assert place is None
    return [entry.action for entry in entries]


async def test_each_filter_finds_its_own(db: Database) -> None:
    here = await recorded(db)
    assert await found(db, here, AuditFilter()) == ["suspended", "active", "issued", "revoked"]
    assert await found(db, here, AuditFilter(actor="ada")) == ["suspended", "issued", "revoked"]
    assert await found(db, here, AuditFilter(actor="ada", subject="card")) == ["suspended"]
    assert await found(db, here, AuditFilter(subject="key")) == ["issued", "revoked"]
    assert await found(db, here, AuditFilter(subject_id=CARD)) == ["suspended", "active"]
    assert await found(db, here, AuditFilter(subject_id=CARD, actor="bob")) == ["active"]
    assert await found(db, here, AuditFilter(action="revoked")) == ["revoked"]
    assert await found(db, here, AuditFilter(since=NOW - MINUTE)) == ["suspended", "active"]
    assert await found(db, here, AuditFilter(until=NOW - MINUTE)) == ["issued", "revoked"]
    assert await found(db, here, AuditFilter(actor="eve")) == []
    assert await found(db, new_id(), AuditFilter()) == []


async def test_pages_follow_each_other(db: Database) -> None:
    here = await recorded(db)
    place: Place | None = None
    seen: list[AuditEntry] = []
    async with db.autocommit() as tx:
        for _ in range(2):
            page, place = await audit_log.entries_of(tx, here, AuditFilter(actor="ada"), after=place, limit=2)
            seen += page
    assert [entry.action for entry in seen] == ["suspended", "issued", "revoked"]
    assert place is None


async def test_a_change_tells_where_it_came_from(db: Database) -> None:
    here, address = new_id(), ip_address("2001:db8::7")
    async with db.transaction(address) as tx:
        await audit_log.record(tx, here, "key", KEY, "issued", by="ada", at=NOW)
    async with db.transaction() as tx:
        await audit_log.record(tx, here, "key", KEY, "revoked", by="ada", at=NOW + MINUTE)
        entries, _ = await audit_log.entries_of(tx, here, AuditFilter(), limit=5)
    assert [(entry.action, entry.address) for entry in entries] == [("revoked", None), ("issued", address)]
