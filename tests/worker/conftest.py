"""A worker in this process, on a database of its module's own: it would send what other tests left behind."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.domain import upkeep
from gatepass.migrations import runner
from gatepass.worker.worker import Worker
from tests import make
from tests.postgres import Cluster


@pytest.fixture(scope="module")
async def own(cluster: Cluster, request: pytest.FixtureRequest) -> AsyncGenerator[Database]:
    """An empty, migrated database for this module alone."""
    url = cluster.create_database(f"gatepass_{request.module.__name__.rpartition('.')[2]}")
    runner.upgrade(url)
    database = Database(url, connections=16, deadline=20)
    await upkeep.keep(database, at=make.now())
    yield database
    await database.close()


@pytest.fixture
async def house(own: Database) -> make.House:
    return await make.house(own)


def settings_for(database: Database, **different: object) -> Settings:
    return Settings(
        database_url=SecretStr(database._url),
        encryption_keys=[SecretStr(make.KEY)],
        worker_metrics_port=0,
        webhook_allow_private=True,
        **different,  # pyright: ignore[reportArgumentType]
    )


@asynccontextmanager
async def working(database: Database, **different: object) -> AsyncGenerator[Worker]:
    """A worker, until the block ends; then it stops as an operator stops it."""
    worker = Worker(settings_for(database, **different))
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await task
