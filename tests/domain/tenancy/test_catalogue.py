"""The schema keeps tenants apart: every key of a tenant table begins with its organization."""

from typing import Final

import psycopg

from gatepass.base.database import Database
from tests.domain.tenancy.pinning import PINNED

NOT_OF_A_TENANT: Final = {
    "organization", "history", "idempotency_generation", "alembic_version",
    # People may work for several organizations.
    "person", "studio_session", "sign_in_link", "notice",
    # So are their credentials.
    "password", "passkey", "one_time_code", "recovery_code", "challenge", "failed_try",
    "mailed_link", "mail_allowance",
}  # fmt: skip


def test_every_key_of_a_tenant_table_begins_with_its_organization(db: Database, database_url: str) -> None:
    """Foreign keys on both sides. Only keys of `organization`, and of `person`, which has none, have another column."""
    with psycopg.connect(database_url) as connection:
        keys = connection.execute(KEYS).fetchall()
        indexes = connection.execute(UNIQUE_INDEXES).fetchall()
    assert {kind for _, _, kind, _, _ in keys} == {"p", "f", "u"}
    assert [key for key in keys if key[3] != PINNED or key[4] not in (None, PINNED, "organization.id")] == []
    assert [index for index in indexes if index[1] != PINNED] == []


def test_every_other_table_is_known(db: Database, database_url: str, tenants: frozenset[str]) -> None:
    with psycopg.connect(database_url) as connection:
        tables = {name for (name,) in connection.execute(TABLES)}
    assert tables - tenants == NOT_OF_A_TENANT
    assert any(name.startswith("request_log_2") for name in tenants), "partitions are looked at too"


TABLES: Final = """
    SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""

KEYS: Final = f"""
    SELECT c.conrelid::regclass::text, c.conname, c.contype,
           (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]),
           CASE WHEN c.contype = 'f' THEN
               (SELECT CASE WHEN c.confrelid = 'organization'::regclass THEN 'organization.' ELSE '' END || attname
                  FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) END
      FROM pg_constraint c
     WHERE c.contype IN ('p', 'u', 'f')
       AND c.confrelid <> 'person'::regclass
       AND c.conrelid IN (SELECT attrelid FROM pg_attribute WHERE attname = '{PINNED}')
"""

UNIQUE_INDEXES: Final = f"""
    SELECT i.indexrelid::regclass::text,
           (SELECT attname FROM pg_attribute WHERE attrelid = i.indrelid AND attnum = i.indkey[0])
      FROM pg_index i
     WHERE i.indisunique
       AND i.indrelid IN (SELECT attrelid FROM pg_attribute WHERE attname = '{PINNED}')
"""
