from typing import Final

import psycopg
import pytest

from gatepass.base.database import Database
from tests.domain.tenancy.pinning import PINNED


@pytest.fixture(scope="module")
def tenants(db: Database, database_url: str) -> frozenset[str]:
    """Every table with an `organization_id`, as the migrated database has them, partitions included."""
    with psycopg.connect(database_url) as connection:
        return frozenset(name for (name,) in connection.execute(TENANTS))


TENANTS: Final = f"""
    SELECT c.relname
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = '{PINNED}' AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace
       AND c.relkind IN ('r', 'p')
"""
