"""A worker in this process, on a database for each module: it would send the deliveries of other tests too."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.domain import maintenance
from gatepass.worker.worker import Worker
from tests import factory
from tests.postgres import Cluster


@asynccontextmanager
async def own_database(cluster: Cluster, name: str) -> AsyncGenerator[Database]:
    """An empty, migrated database."""
    url = cluster.create_migrated(name)
    database = factory.database(url, connections=16)
    await maintenance.run_due(database, at=factory.now())
    yield database
    await database.close()


@pytest.fixture(scope="module")
async def own(cluster: Cluster, request: pytest.FixtureRequest) -> AsyncGenerator[Database]:
    async with own_database(cluster, f"gatepass_{request.module.__name__.rpartition('.')[2]}") as database:
        yield database


@pytest.fixture
async def tenant(own: Database) -> factory.Tenant:
    return await factory.tenant(own)


def settings_for(database: Database, **different: object) -> Settings:
    return factory.settings(database.url, webhook_allow_private=True, **different)


@asynccontextmanager
async def working(database: Database, **different: object) -> AsyncGenerator[Worker]:
    """A worker until the block ends; then it is stopped."""
    worker = Worker(settings_for(database, **different))
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await task
