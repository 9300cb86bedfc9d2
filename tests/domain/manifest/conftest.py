"""A database of its own for the verbs of a worker, which act on every organization."""

import pytest

from gatepass.base.database import Database
from tests import factory
from tests.domain.imports.conftest import own
from tests.factory import Tenant

__all__ = ["own"]


@pytest.fixture
async def alone(own: Database) -> Tenant:
    return await factory.tenant(own)
