"""The schema version of this database."""

from typing import Final

from gatepass.base.database import Tx


async def installed(tx: Tx) -> str | None:
    """The revision and the routines' fingerprint, as `migrations.head` writes them; None if it was never migrated."""
    return await tx.value(INSTALLED) if await tx.value(HAS_VERSION) else None


HAS_VERSION: Final = "SELECT to_regclass('alembic_version') IS NOT NULL"

INSTALLED: Final = """
    SELECT version_num || '+' || coalesce(obj_description('alembic_version'::regclass), 'none')
      FROM alembic_version
"""
