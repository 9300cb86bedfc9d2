"""On a database of their own: some verbs look at every organization. A deadlock is found at once."""

from collections.abc import AsyncGenerator

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import maintenance
from gatepass.migrations import runner
from tests import factory
from tests.domain.locks.copies import COPY_ROWS
from tests.domain.locks.pairs import Pairs
from tests.postgres import Cluster


@pytest.fixture(scope="session")
async def own(cluster: Cluster) -> AsyncGenerator[Database]:
    name = f"gatepass_locks_{new_id().hex[-8:]}"
    url = cluster.create_database(name)
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(f"ALTER DATABASE {name} SET deadlock_timeout = '50ms'".encode())
        link.execute(COPY_ROWS.encode())
        link.execute(f"ALTER DATABASE {name} SET synchronous_commit = off".encode())
    database = factory.database(url, connections=8)
    await maintenance.run_due(database, at=factory.now())
    yield database
    await database.close()


@pytest.fixture(scope="session")
async def pairs(own: Database) -> Pairs:
    return Pairs(own)
