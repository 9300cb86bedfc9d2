import pytest

from gatepass.base.database import Database
from gatepass.domain import schema
from gatepass.migrations.head import head, is_ahead


async def test_the_head_is_what_a_migrated_database_has(db: Database) -> None:
    async with db.autocommit() as tx:
        assert await schema.installed(tx) == head()


@pytest.mark.parametrize(
    ("installed", "ahead"),
    [(None, False), ("0001+none", False), (head(), False), ("9999+000000000000", True)],
)
def test_a_later_revision_is_ahead(installed: str | None, ahead: bool) -> None:
    assert is_ahead(installed) is ahead
