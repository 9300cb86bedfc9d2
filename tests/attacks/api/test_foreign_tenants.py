"""Isolation: a key of one organization or mode, and the things of another."""

import re
from datetime import timedelta
from uuid import UUID

import httpx2
import pytest

from gatepass.base.clock import rfc3339
from gatepass.base.database import Database
from gatepass.domain.keys import Mode, Scope
from tests import factory
from tests.api.endpoints import ENDPOINTS, Endpoint
from tests.processes import GatepassProcess

WITH_IDS = [endpoint for endpoint in ENDPOINTS if "{" in endpoint.path]
BODIES = {
    "PATCH /webhooks/{id}": {"description": "taken over"},
    "POST /webhooks/{id}/replay": {"since": rfc3339(factory.now() - timedelta(hours=1))},
    "PATCH /cards/{id}": {"holder": {"name": "taken over"}},
    **{f"POST /cards/{{id}}/{act}": {"reason": "x"} for act in ("suspend", "resume", "revoke", "replace")},
    "POST /cards/{id}/token": {},
    "POST /tickets/{id}/cancel": {"reason": "x"},
    "POST /tickets/{id}/transfer": {"holder": {"name": "taken over"}},
}


@pytest.fixture(scope="module")
async def theirs(db: Database) -> tuple[factory.Tenant, dict[str, str]]:
    """Another organization, with a value for each path parameter."""
    tenant = await factory.tenant(db)
    endpoint_id, _ = await tenant.endpoint("https://example.com/hook")
    (message_id,) = await tenant.tell()
    async with db.autocommit() as tx:
        delivery_id: UUID = await tx.value("SELECT id FROM webhook_delivery WHERE organization_id = $1", tenant.id)
    card = await tenant.card(with_ticket=False)
    return tenant, {
        "event": str(tenant.event_id),
        "card": str(card.id),
        "ticket": str(await tenant.ticket(card)),
        "webhook": str(endpoint_id),
        "delivery": str(delivery_id),
        "message": str(message_id),
    }


def path_of(endpoint: Endpoint, ids: dict[str, str]) -> str:
    first = endpoint.path.split("/")[1].removesuffix("s")
    return re.sub("{[a-z_]+}", lambda found: ids["delivery" if "delivery" in found[0] else first], endpoint.path)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("endpoint", WITH_IDS, ids=str)
async def test_the_things_of_another_organization(
    server: GatepassProcess,
    tenant: factory.Tenant,
    theirs: tuple[factory.Tenant, dict[str, str]],
    endpoint: Endpoint,
    mode: Mode,
) -> None:
    async with server.client((await tenant.key(mode=mode)).text) as client:
        answer = await endpoint_call(client, endpoint, path_of(endpoint, theirs[1]))
    assert answer.status_code in (404, 410), (str(endpoint), answer.text)


@pytest.mark.parametrize("endpoint", [one for one in WITH_IDS if "webhook" in one.path], ids=str)
async def test_live_things_with_a_sandbox_key(
    server: GatepassProcess, theirs: tuple[factory.Tenant, dict[str, str]], endpoint: Endpoint
) -> None:
    tenant, ids = theirs
    async with server.client((await tenant.key(mode=Mode.SANDBOX)).text) as client:
        answer = await endpoint_call(client, endpoint, path_of(endpoint, ids))
    assert answer.status_code == 404, (str(endpoint), answer.text)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str)
async def test_a_key_without_the_scope(server: GatepassProcess, tenant: factory.Tenant, endpoint: Endpoint) -> None:
    async with server.client((await tenant.key(endpoint.wrong_scope)).text) as client:
        answer = await endpoint.call(client)
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")


@pytest.mark.parametrize("way", ["card_number", "token"])
async def test_another_organizations_card(
    server: GatepassProcess, tenant: factory.Tenant, theirs: tuple[factory.Tenant, dict[str, str]], way: str
) -> None:
    other = theirs[0]
    card = await other.card()
    body = {"event_id": str(other.event_id), way: card.number if way == "card_number" else other.token(card)}
    async with server.client((await tenant.key(Scope.TICKETS_ACTIVATE)).text) as client:
        foreign_event = await client.post("/scan", json=body)
        own_event = await client.post("/scan", json={**body, "event_id": str(tenant.event_id)})
    assert foreign_event.status_code in (400, 404), foreign_event.text
    assert own_event.status_code in (400, 404), own_event.text
    async with server.client((await other.key(Scope.TICKETS_ACTIVATE)).text) as client:
        assert (await client.post("/scan", json=body)).status_code == 200, "it is still unused"


async def endpoint_call(client: httpx2.AsyncClient, endpoint: Endpoint, path: str) -> httpx2.Response:
    body = BODIES.get(str(endpoint), {}) if endpoint.method in ("POST", "PATCH") else None
    return await client.request(endpoint.method, path, json=body)
