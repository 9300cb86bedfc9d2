"""Holders of cards, their phones in three browsers, and a network that can be cut."""

from collections.abc import AsyncGenerator

import pytest

from tests import factory
from tests.browser.card_page.holder import Holder, new_holder
from tests.browser.card_page.network import Network
from tests.browser.studio import Stack


@pytest.fixture
async def holder(tenant: factory.Tenant, stack: Stack) -> Holder:
    return await new_holder(tenant, stack)


@pytest.fixture
async def network(stack: Stack) -> AsyncGenerator[Network]:
    async with Network(stack.server.port).running() as running:
        yield running
