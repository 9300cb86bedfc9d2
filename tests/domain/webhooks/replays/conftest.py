"""On a database of its own, because a worker that advances replays advances those of all organizations."""

from collections.abc import AsyncGenerator

import pytest

from gatepass.base.database import Database
from gatepass.domain import maintenance
from tests import factory
from tests.factory import Tenant
from tests.postgres import Cluster


@pytest.fixture(scope="module")
async def own(cluster: Cluster) -> AsyncGenerator[Database]:
    url = cluster.create_migrated("gatepass_replays")
    database = factory.database(url, connections=16)
    await maintenance.run_due(database, at=factory.now())
    yield database
    await database.close()


@pytest.fixture
async def tenant(own: Database) -> AsyncGenerator[Tenant]:
    yield await factory.tenant(own)
    async with own.transaction() as tx:  # the next test must not advance them
        await tx.run("UPDATE webhook_replay SET ended_at = now() WHERE ended_at IS NULL")
