"""An organization in a database of its own: its workers send nothing of other tests."""

from collections.abc import AsyncGenerator

import pytest

from gatepass.base.ids import new_id
from tests import factory
from tests.factory import Tenant
from tests.postgres import Cluster
from tests.worker.conftest import own_database


@pytest.fixture
async def own(cluster: Cluster) -> AsyncGenerator[Tenant]:
    async with own_database(cluster, f"gatepass_mailing_{new_id().hex[-8:]}") as database:
        yield await factory.tenant(database)
