"""Devices that call from addresses of their own, so that no attempt uses up the limits of another."""

import hashlib
from collections.abc import AsyncGenerator, Callable

import httpx2
import pytest

from gatepass.domain.cell import new_token
from tests.attacks.pairing.handset import Handset, Lead
from tests.factory import Tenant
from tests.processes import GatepassProcess

NewHandset = Callable[[], Handset]


def address() -> str:
    octets = hashlib.sha256(new_token("a").encode()).digest()
    return f"10.{octets[0]}.{octets[1]}.{octets[2]}"


@pytest.fixture
async def client(behind_proxy: GatepassProcess) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        base_url=behind_proxy.url, headers={"X-Forwarded-For": address()}, timeout=60
    ) as opened:
        yield opened


@pytest.fixture
def handset(client: httpx2.AsyncClient) -> NewHandset:
    return lambda: Handset(client)


@pytest.fixture
def lead(tenant: Tenant) -> Lead:
    return Lead(tenant)
