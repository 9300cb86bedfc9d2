"""Databases without partitions."""

from collections.abc import AsyncGenerator

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from tests import factory
from tests.domain.maintenance.histories import T0
from tests.postgres import Cluster


@pytest.fixture(scope="module")
def template(cluster: Cluster) -> str:
    cluster.create_migrated("gatepass_maintenance")
    return "gatepass_maintenance"


@pytest.fixture
async def fresh(cluster: Cluster, template: str) -> AsyncGenerator[Database]:
    """A migrated database without partitions, whose generation of idempotency keys was opened at T0."""
    name = f"gatepass_maintenance_{new_id().hex[-12:]}"
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    database = factory.database(cluster.url(name), connections=8)
    async with database.transaction() as tx:
        await tx.run("UPDATE idempotency_generation SET opened_at = $1", T0)
    yield database
    await database.close()
