from gatepass.base.database import Database
from gatepass.domain import schema
from gatepass.migrations.head import head


async def test_the_head_is_what_a_migrated_database_has(db: Database) -> None:
    async with db.reading() as tx:
        assert await schema.installed(tx) == head()
