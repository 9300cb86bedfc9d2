"""A second organization, a database of its own, and a mailer."""

from collections.abc import AsyncGenerator

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain.mail import Mailer
from tests import factory
from tests.postgres import Cluster
from tests.worker.conftest import own_database


@pytest.fixture
async def other(db: Database) -> factory.Tenant:
    return await factory.tenant(db)


@pytest.fixture
async def fresh(cluster: Cluster) -> AsyncGenerator[Database]:
    """For tests that claim or delete letters of every organization."""
    async with own_database(cluster, f"gatepass_letters_{new_id().hex[-12:]}") as database:
        yield database


@pytest.fixture
def mailer() -> Mailer:
    return Mailer(factory.VAULT, enabled=True)
