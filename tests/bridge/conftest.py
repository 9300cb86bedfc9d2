"""One pretix and one Gatepass for the tests of the bridge, on one PostgreSQL; an event and a bridge for each test."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from gatepass.domain.keys import Scope
from tests import factory
from tests.bridge.gate import Bridge, Gate, Service, eventually, open_gate
from tests.bridge.shop import Shop, running_shop
from tests.postgres import Cluster, free_port
from tests.processes import serve

# As README.md of the bridge says.
SCOPES = (Scope.TICKETS_READ, Scope.TICKETS_WRITE, Scope.CARDS_READ, Scope.CARDS_WRITE, Scope.WEBHOOKS_READ)


@pytest.fixture(scope="session")
def shop(cluster: Cluster) -> Generator[Shop]:
    with running_shop(cluster) as started:
        yield started


@pytest.fixture(scope="session")
def service(settings_env: dict[str, str]) -> Generator[Service]:
    started = Service(settings_env, serve(settings_env, free_port()))
    yield started
    started.stop()


@pytest.fixture
async def gate(service: Service, tenant: factory.Tenant) -> AsyncGenerator[Gate]:
    whole, narrow = await tenant.key(), await tenant.key(*SCOPES)
    opened = open_gate(service, whole.text, narrow.text)
    yield opened
    opened.client.close()


@pytest.fixture
def bridge(shop: Shop, gate: Gate, tmp_path: Path) -> Generator[Bridge]:
    """Started, and killed at the end. It has caught up with the orders of the tests before."""
    made = Bridge(shop, gate, tmp_path)
    made.start()
    (position,) = shop.sell({"name": "Nobody"}).positions
    eventually(lambda: gate.valid(position), len, within=60)
    yield made
    made.kill()
