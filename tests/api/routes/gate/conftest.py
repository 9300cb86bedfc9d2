"""A paired device of the tenant, and a client with its key."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from tests.api.conftest import Api
from tests.domain.journal.device import GateDevice, pair
from tests.factory import Tenant


@pytest.fixture
async def gate(tenant: Tenant) -> GateDevice:
    return await pair(tenant)


@pytest.fixture
async def device(api: Api, gate: GateDevice) -> AsyncGenerator[httpx2.AsyncClient]:
    async with api.client(gate.key) as opened:
        yield opened
