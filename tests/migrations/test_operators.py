"""Revision 0011: what version 0.2 reads and writes beside it."""

from uuid import UUID, uuid4

import psycopg

from gatepass.domain.lifecycle import suspension
from tests import factory

# As version 0.2 looks a key up.
BY_HASH_OF_0_2 = """
    SELECT expires_at <= now(), revoked_at
      FROM api_key
     WHERE organization_id = %s AND id = %s
"""


async def test_older_code_finds_a_suspended_key_expired(tenant: factory.Tenant, database_url: str) -> None:
    key = await tenant.key()
    async with tenant.db.transaction() as tx:
        await suspension.suspend(tx, tenant.id, reason="x", by=factory.BY, at=factory.now())
    assert _seen(database_url, tenant.id, key.id) == (True, None)
    async with tenant.db.transaction() as tx:
        await suspension.resume(tx, tenant.id, by=factory.BY, at=factory.now())
    assert _seen(database_url, tenant.id, key.id) == (None, None)


def _seen(database_url: str, organization_id: UUID, key_id: UUID) -> tuple[object, ...] | None:
    with psycopg.connect(database_url) as connection:
        return connection.execute(BY_HASH_OF_0_2, (organization_id, key_id)).fetchone()


async def test_what_older_code_writes_is_neither_suspended_nor_disabled(
    tenant: factory.Tenant, database_url: str
) -> None:
    made = uuid4()
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO organization (id, name, created_at) VALUES (%s, 'Old', now())", (made,))
        connection.execute(
            "INSERT INTO person (id, email, name, created_at) VALUES (%s, %s, 'Ada', now())",
            (made, f"{made}@example.org"),
        )
        row = connection.execute(
            "SELECT o.suspended_at, o.closed_at, o.erase_at, p.disabled_at"
            "  FROM organization o JOIN person p ON p.id = o.id WHERE o.id = %s",
            (made,),
        ).fetchone()
        connection.rollback()
    assert row == (None, None, None, None)
