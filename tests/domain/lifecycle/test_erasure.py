"""Erasing a closed organization: every table, in pieces, and nothing of anybody else."""

from datetime import timedelta
from uuid import UUID

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.base.errors import Busy
from gatepass.domain import maintenance, organizations, twin
from gatepass.domain.lifecycle import erasure, suspension
from gatepass.domain.lifecycle.erased_tables import ERASE
from gatepass.domain.lifecycle.export import FILES, LEFT_OUT
from tests import factory
from tests.factory import BY, Tenant

# The tables of the files whose names differ by more than an `s`.
TABLE_OF = {
    "ticket_categories": "ticket_category",
    "journal_entries": "journal_entry",
    "webhook_messages": "webhook_event",
    "webhook_deliveries": "webhook_delivery",
    "scans": "scan",
    "request_log": "request_log",
    "audit_log": "audit_log",
}
TENANT_TABLES = """
    SELECT c.relname
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id'
     WHERE c.relnamespace = 'public'::regnamespace
       AND c.relkind IN ('r', 'p')
       AND NOT c.relispartition
"""


@pytest.fixture
def tables(db: Database, database_url: str) -> set[str]:
    with psycopg.connect(database_url) as connection:
        return {name for (name,) in connection.execute(TENANT_TABLES)}


def test_every_tenant_table_is_erased(tables: set[str]) -> None:
    assert set(ERASE) == tables


def test_every_tenant_table_is_exported_or_left_out_on_purpose(tables: set[str]) -> None:
    exported = {TABLE_OF.get(name, name.removesuffix("s")) for name in FILES} - {"organization"}
    assert exported | LEFT_OUT == tables
    assert not exported & LEFT_OUT


async def filled(tenant: Tenant) -> Tenant:
    await tenant.key()
    await tenant.endpoint("https://example.com/hook")
    for _ in range(3):
        await tenant.card()
    await tenant.tell(3)
    return tenant


async def close(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await suspension.close(tx, tenant.id, reason="Over.", by=BY, at=factory.now(), keep=timedelta(days=7))


def counts(database_url: str, tables: set[str], organization_id: UUID) -> dict[str, int]:
    with psycopg.connect(database_url) as connection:
        return {
            table: connection.execute(
                f"SELECT count(*) FROM {table} WHERE organization_id = '{organization_id}'".encode()
            ).fetchall()[0][0]
            for table in tables
        }


async def test_it_is_erased_on_its_day_and_not_before(
    db: Database, database_url: str, tenant: Tenant, other: Tenant, tables: set[str]
) -> None:
    await filled(tenant)
    await filled(other)
    theirs = counts(database_url, tables, other.id)
    await close(tenant)
    mine = counts(database_url, tables, tenant.id)
    assert mine["card"] == 3
    await erasure.erase_some(db, at=factory.now() + timedelta(days=6))
    assert counts(database_url, tables, tenant.id) == mine
    await erasure.erase_some(db, at=factory.now() + timedelta(days=8))
    assert not any(counts(database_url, tables, tenant.id).values())
    with psycopg.connect(database_url) as connection:
        left = connection.execute("SELECT id FROM organization WHERE id IN (%s, %s)", (tenant.id, other.id)).fetchall()
    assert left == [(other.id,)]
    assert counts(database_url, tables, other.id) == theirs


async def test_it_is_not_erased_within_a_day_of_its_day(
    db: Database, database_url: str, tenant: Tenant, tables: set[str]
) -> None:
    """A clock that was wrong for an hour must not erase what nobody can bring back."""
    await filled(tenant)
    await close(tenant)
    await erasure.erase_some(db, at=factory.now() + timedelta(days=7, hours=23))
    assert counts(database_url, tables, tenant.id)["card"] == 3
    await erasure.erase_some(db, at=factory.now() + timedelta(days=8))


async def test_a_round_is_bounded_and_the_next_goes_on(
    db: Database, database_url: str, tenant: Tenant, tables: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "PIECE", 2)
    await filled(tenant)
    await close(tenant)
    at, rounds = factory.now() + timedelta(days=8), 0
    before = sum(counts(database_url, tables, tenant.id).values())
    while erased := await erasure.erase_some(db, at=at, pieces=3):
        after = sum(counts(database_url, tables, tenant.id).values())
        assert erased <= 6
        assert after == before - erased or after == 0
        before, rounds = after, rounds + 1
    assert rounds > 3
    assert before == 0


async def test_what_is_resumed_is_not_erased(db: Database, database_url: str, tenant: Tenant, tables: set[str]) -> None:
    await filled(tenant)
    await close(tenant)
    async with db.transaction() as tx:
        await suspension.resume(tx, tenant.id, by=BY, at=factory.now())
    await erasure.erase_some(db, at=factory.now() + timedelta(days=99))
    assert counts(database_url, tables, tenant.id)["card"] == 3


async def test_a_sandbox_is_emptied_and_begins_again(
    db: Database, database_url: str, tenant: Tenant, tables: set[str]
) -> None:
    there = await factory.sandbox_twin(tenant)
    await there.card()
    before = counts(database_url, tables, tenant.id)
    async with db.transaction() as tx:
        assert await twin.empty(tx, tenant.id, by=BY, at=factory.now())
        assert not await twin.empty(tx, tenant.id, by=BY, at=factory.now()), "it is being emptied already"
    with pytest.raises(Busy, match="being emptied"):
        async with db.transaction() as tx:
            await twin.open_for_changes(tx, tenant.id, at=factory.now())
    done = await maintenance.follow_up(db, at=factory.now())
    assert done.sandbox_rows_erased > 0
    assert not any(counts(database_url, tables, there.id).values())
    after = counts(database_url, tables, tenant.id)
    assert after == before | {"audit_log": before["audit_log"] + 1}
    again = await factory.sandbox_twin(tenant)
    assert again.id == there.id


async def test_a_sandbox_is_erased_with_its_owner(
    db: Database, database_url: str, tenant: Tenant, tables: set[str]
) -> None:
    there = await factory.sandbox_twin(tenant)
    await there.card()
    await close(tenant)
    await erasure.erase_some(db, at=factory.now() + timedelta(days=6))
    assert counts(database_url, tables, there.id)["card"] == 1
    await erasure.erase_some(db, at=factory.now() + timedelta(days=8))
    for id in (tenant.id, there.id):
        assert not any(counts(database_url, tables, id).values())
    async with db.autocommit() as tx:
        assert [await organizations.find(tx, id) for id in (tenant.id, there.id)] == [None, None]


async def test_scans_in_a_sandbox_that_was_never_made_are_erased_too(db: Database, tenant: Tenant) -> None:
    async with db.transaction() as tx:
        await tx.run(STRAY_SCAN, twin.twin_id(tenant.id), factory.now())
    await close(tenant)
    await erasure.erase_some(db, at=factory.now() + timedelta(days=8))
    async with db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM scan WHERE organization_id = $1", twin.twin_id(tenant.id)) == 0


STRAY_SCAN = """
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, verdict)
    VALUES ($1, $2, gen_random_uuid(), 'sandbox', gen_random_uuid(), gen_random_uuid(), 'TEST_VALID', 'activated')
"""
