"""A venue with a gate, a phone that scans there, and a network between them that can be cut."""

from collections.abc import AsyncGenerator

import pytest

from tests import factory
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone, new_phone
from tests.browser.studio import Stack
from tests.browser.visit import PHONE, Visitor


@pytest.fixture
async def network(stack: Stack) -> AsyncGenerator[Network]:
    async with Network(stack.server.port).running() as running:
        yield running


@pytest.fixture
async def phone(tenant: factory.Tenant, stack: Stack, network: Network, visit: Visitor) -> Phone:
    """A phone that is paired and has the list of its event."""
    visited = await visit(viewport=PHONE)
    return await new_phone(tenant, stack, network.origin, visited)
