"""Rotation of a secret: the new one signs beside the old one, then before it, then alone."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from gatepass.domain import webhooks
from gatepass.domain.webhooks.signature import chosen
from tests import factory
from tests.api.conftest import assert_error
from tests.api.subscriptions import create
from tests.conftest import opened
from tests.factory import Tenant

HOUR = timedelta(hours=1)


@dataclass
class Clock:
    now: datetime = field(default_factory=factory.now)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def client(database_url: str, tenant: Tenant, clock: Clock) -> AsyncGenerator[httpx2.AsyncClient]:
    settings = factory.settings(database_url)
    async with opened(settings, clock) as (client, _):
        client.headers["Authorization"] = f"Bearer {(await tenant.key()).text}"
        yield client


@dataclass
class Endpoint:
    client: httpx2.AsyncClient
    tenant: Tenant
    clock: Clock
    made: dict[str, Any]

    async def rotate(self, **body: Any) -> httpx2.Response:
        return await self.client.post(f"/webhooks/{self.made['id']}/rotate-secret", json=body)

    async def issue(self) -> str:
        answer = await self.rotate()
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]["secret"]

    async def rotation(self) -> Any:
        return (await self.client.get(f"/webhooks/{self.made['id']}")).json()["data"]["rotation"]

    async def signs(self) -> tuple[str, str | None]:
        """The secrets that a worker would sign with now."""
        async with self.tenant.db.autocommit() as tx:
            rows = await tx.rows("SELECT * FROM webhook_endpoint WHERE organization_id = $1", self.tenant.id)
        row, context = rows[0], webhooks.secret_context(self.tenant.id, UUID(self.made["id"]))
        old, new = (
            None if box is None else factory.VAULT.open(box, context).decode()
            for box in (row["sealed_secret"], row["sealed_new_secret"])
        )
        assert old is not None
        return chosen(old, new, switches_at=row["switches_at"], retires_at=row["retires_at"], at=self.clock.now)


@pytest.fixture
async def endpoint(client: httpx2.AsyncClient, tenant: Tenant, clock: Clock) -> Endpoint:
    return Endpoint(client, tenant, clock, await create(client))


async def test_a_rotation_goes_by_itself(endpoint: Endpoint, clock: Clock) -> None:
    old, began = endpoint.made["secret"], clock.now
    answer = (await endpoint.rotate()).json()["data"]
    new, rotation = answer["secret"], answer["rotation"]
    assert new.startswith("whsec_")
    assert new != old
    assert datetime.fromisoformat(rotation["switches_at"]) == began + 24 * HOUR
    assert datetime.fromisoformat(rotation["retires_at"]) == began + 48 * HOUR
    assert await endpoint.rotation() == rotation
    assert await endpoint.signs() == (old, new)
    clock.now = began + 24 * HOUR
    assert await endpoint.signs() == (new, old)
    assert await endpoint.rotation() == rotation
    clock.now = began + 48 * HOUR
    assert await endpoint.signs() == (new, None)
    assert await endpoint.rotation() is None


async def test_it_can_be_switched_by_hand(endpoint: Endpoint, clock: Clock) -> None:
    old, new = endpoint.made["secret"], await endpoint.issue()
    clock.now += HOUR
    switched = (await endpoint.rotate(switch=True)).json()["data"]
    assert switched["secret"] is None
    assert datetime.fromisoformat(switched["rotation"]["switches_at"]) == clock.now
    assert datetime.fromisoformat(switched["rotation"]["retires_at"]) == clock.now + 24 * HOUR
    assert await endpoint.signs() == (new, old)
    clock.now += HOUR
    again = (await endpoint.rotate(switch=True)).json()["data"]
    assert again == switched, "who did not hear the answer may ask again"


async def test_a_new_secret_that_does_not_sign_yet_is_replaced(endpoint: Endpoint, clock: Clock) -> None:
    old, first = endpoint.made["secret"], await endpoint.issue()
    clock.now += HOUR
    second = await endpoint.issue()
    assert second != first
    assert await endpoint.signs() == (old, second)


async def test_while_the_old_secret_is_in_use_there_is_no_other_rotation(endpoint: Endpoint, clock: Clock) -> None:
    new = await endpoint.issue()
    await endpoint.rotate(switch=True)
    refused = await endpoint.rotate()
    assert_error(refused, 409, "not_allowed")
    assert (await endpoint.rotation())["retires_at"] in refused.json()["error"]
    clock.now += 24 * HOUR
    newest = await endpoint.issue()
    assert await endpoint.signs() == (new, newest), "the one before is forgotten"


async def test_there_must_be_something_to_switch_to(endpoint: Endpoint, clock: Clock) -> None:
    assert_error(await endpoint.rotate(switch=True), 409, "not_allowed")
    await endpoint.issue()
    clock.now += 48 * HOUR
    assert_error(await endpoint.rotate(switch=True), 409, "not_allowed")


async def test_a_body_may_be_left_out(endpoint: Endpoint) -> None:
    url = f"/webhooks/{endpoint.made['id']}/rotate-secret"
    assert (await endpoint.client.post(url)).json()["data"]["secret"]
    assert (await endpoint.client.post(url, content=b"{}")).json()["data"]["secret"]
    assert (await endpoint.rotate(switch=False)).json()["data"]["secret"]
    for raw in (b"null", b"[]", b"{", b'{"switch": "yes"}', b'{"switch": null}', b'{"switch": 1}'):
        assert_error(await endpoint.client.post(url, content=raw), 400, "invalid_request")
