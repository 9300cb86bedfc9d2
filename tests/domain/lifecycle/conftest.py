"""Fixtures: a second organization, which nothing may touch."""

import pytest

from gatepass.base.database import Database
from tests import factory


@pytest.fixture
async def other(db: Database) -> factory.Tenant:
    return await factory.tenant(db)
