"""Isolation: a key of one organization or mode, and the things of another."""

import re
from datetime import timedelta
from uuid import UUID

import httpx2
import pytest

from gatepass.base.clock import rfc3339
from gatepass.base.database import Database
from gatepass.domain import incidents, twin
from gatepass.domain.keys import IssuedKey, Mode, Scope
from tests import factory
from tests.api.endpoints import ENDPOINTS, FOR_DEVICES, Endpoint
from tests.domain.manifest.devices import registered
from tests.processes import GatepassProcess

# What only devices may call is tried with their keys, in tests/attacks/gate.
WITH_IDS = [endpoint for endpoint in ENDPOINTS if "{" in endpoint.path and endpoint not in FOR_DEVICES]
BODIES = {
    "PATCH /webhooks/{id}": {"description": "taken over"},
    "POST /webhooks/{id}/replay": {"since": rfc3339(factory.now() - timedelta(hours=1))},
    "PATCH /cards/{id}": {"holder": {"name": "taken over"}},
    **{f"POST /cards/{{id}}/{act}": {"reason": "x"} for act in ("suspend", "resume", "revoke", "replace")},
    "POST /cards/{id}/token": {},
    "POST /tickets/{id}/cancel": {"reason": "x"},
    "POST /tickets/{id}/transfer": {"holder": {"name": "taken over"}},
    "PATCH /events/{id}": {"title": "taken over"},
    "POST /events/{id}/cancel": {"reason": "x"},
    "POST /events/{id}/reopen": {"reason": "x"},
    "POST /events/{id}/ticket-categories": {"name": "x", "price": 1, "currency": "EUR", "quantity_total": 1},
    "PATCH /ticket-categories/{id}": {"name": "taken over"},
    "PATCH /devices/{id}": {"name": "taken over"},
}


@pytest.fixture(scope="module")
async def theirs(db: Database) -> tuple[factory.Tenant, dict[str, str]]:
    """Another organization, with a value for each path parameter."""
    return await filled(await factory.tenant(db))


@pytest.fixture(scope="module")
async def their_twin(theirs: tuple[factory.Tenant, dict[str, str]]) -> tuple[factory.Tenant, dict[str, str]]:
    """The same in its sandbox. Endpoints and messages are those of the organization."""
    tenant, ids = await filled(await factory.sandbox_twin(theirs[0]))
    return tenant, theirs[1] | ids


async def filled(tenant: factory.Tenant) -> tuple[factory.Tenant, dict[str, str]]:
    card, guest = await tenant.card(with_ticket=False), await tenant.card(with_ticket=False)
    async with tenant.db.transaction() as tx:
        opened = await incidents.let_in(
            tx, tenant.id, guest.id, tenant.event_id, reason="A guest", by=factory.BY, at=factory.now()
        )
    device_id, _ = await registered(tenant)
    ids = {
        "device": str(device_id),
        "incident": str(opened.incident_id),
        "event": str(tenant.event_id),
        "ticket-categorie": str(tenant.category_id),
        "card": str(card.id),
        "number": card.number,
        "ticket": str(await tenant.ticket(card)),
    }
    if twin.is_twin(tenant.id):
        return tenant, ids
    endpoint_id, _ = await tenant.endpoint("https://example.com/hook")
    (message_id,) = await tenant.tell()
    async with tenant.db.autocommit() as tx:
        delivery_id: UUID = await tx.value("SELECT id FROM webhook_delivery WHERE organization_id = $1", tenant.id)
    return tenant, ids | {
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
    their_twin: tuple[factory.Tenant, dict[str, str]],
    endpoint: Endpoint,
    mode: Mode,
) -> None:
    """Nor those in the sandbox of another."""
    async with server.client((await tenant.key(mode=mode)).text) as client:
        for other, ids in (theirs, their_twin):
            before = await stored(other)
            answer = await endpoint_call(client, endpoint, path_of(endpoint, ids))
            assert answer.status_code in (404, 410), (str(endpoint), answer.text)
            assert await stored(other) == before


@pytest.mark.parametrize("endpoint", WITH_IDS, ids=str)
async def test_live_things_with_a_sandbox_key(
    server: GatepassProcess, theirs: tuple[factory.Tenant, dict[str, str]], endpoint: Endpoint
) -> None:
    await assert_unknown(server, await theirs[0].key(mode=Mode.SANDBOX), theirs, endpoint)


@pytest.mark.parametrize("endpoint", [one for one in WITH_IDS if "webhook" not in one.path], ids=str)
async def test_sandbox_things_with_a_live_key(
    server: GatepassProcess, their_twin: tuple[factory.Tenant, dict[str, str]], endpoint: Endpoint
) -> None:
    await assert_unknown(server, await their_twin[0].key(), their_twin, endpoint)


async def assert_unknown(
    server: GatepassProcess, key: IssuedKey, theirs: tuple[factory.Tenant, dict[str, str]], endpoint: Endpoint
) -> None:
    tenant, ids = theirs
    before = await stored(tenant)
    async with server.client(key.text) as client:
        answer = await endpoint_call(client, endpoint, path_of(endpoint, ids))
    assert answer.status_code in (404, 410), (str(endpoint), answer.text)
    assert await stored(tenant) == before


async def test_a_card_of_the_other_mode(
    server: GatepassProcess,
    theirs: tuple[factory.Tenant, dict[str, str]],
    their_twin: tuple[factory.Tenant, dict[str, str]],
) -> None:
    """By number and by token, for an event of either mode; each is still unused in its own."""
    live, sandbox = theirs[0], their_twin[0]
    for mode, mine, other in ((Mode.LIVE, live, sandbox), (Mode.SANDBOX, sandbox, live)):
        foreign, own = await other.card(), await mine.card()
        async with server.client((await mine.key(mode=mode)).text) as client:
            for event_id in (mine.event_id, other.event_id):
                by_number = await client.post("/scan", json={"event_id": str(event_id), "card_number": foreign.number})
                by_token = await client.post("/scan", json={"event_id": str(event_id), "token": other.token(foreign)})
                assert (by_number.status_code, by_token.status_code) == (404, 400)
                shown = (await client.get("/card/verify", params={"token": other.token(foreign)})).json()
                assert shown["reason"] == "invalid_token"
            body = {"event_id": str(mine.event_id), "token": mine.token(own)}
            assert (await client.post("/scan", json=body)).status_code == 200


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


# By the field in which it is sent: the value, of which `{…}` is of the other organization, and the refusal.
FOREIGN_FIELDS = {
    "event_id": ("{event}", "event_not_found"),
    "category_id": ("{ticket-categorie}", "category_not_found"),
    "card_id": ("{card}", "card_not_found"),
    "card_number": ("{number}", "card_not_found"),
}


@pytest.mark.parametrize("field", FOREIGN_FIELDS)
async def test_a_ticket_of_things_of_another_organization(
    server: GatepassProcess, tenant: factory.Tenant, theirs: tuple[factory.Tenant, dict[str, str]], field: str
) -> None:
    """By itself, in a batch and in a transfer: the answer is that of an id that nobody has."""
    other, ids = theirs
    before = await stored(other), await stored(tenant)
    value, code = FOREIGN_FIELDS[field]
    own = {"event_id": str(tenant.event_id), "category_id": str(tenant.category_id)}
    card = {} if field.startswith("card_") else {"holder": {"name": "Ann"}}
    body = {**own, **card, field: value.format(**ids)}
    async with server.client((await tenant.key()).text) as client:
        answers = [await client.post("/tickets", json=body)]
        batch = await client.post("/tickets/batch", json={"tickets": [body] * 3})
        assert (await stored(other), await stored(tenant)) == before
        if field == "card_id":
            ticket = await tenant.ticket(await tenant.card(with_ticket=False))
            moved = {"card_id": ids["card"]}
            answers.append(await client.post(f"/tickets/{ticket}/transfer", json=moved))
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(404, code)}
    assert [(result["status"], result["code"]) for result in batch.json()["data"]] == [(404, code)] * 3
    assert await stored(other) == before[0]


async def test_lists_filtered_by_things_of_another_organization(
    server: GatepassProcess, tenant: factory.Tenant, theirs: tuple[factory.Tenant, dict[str, str]]
) -> None:
    other, ids = theirs
    async with server.client((await other.key()).text) as client:
        body = {"holder": {"email": "ann@example.org"}, "external_id": "M-1"}
        assert (await client.post("/cards", json=body)).status_code in (200, 201)
    filters = [
        *(("/tickets", {name: ids[kind]}) for name, kind in (("event_id", "event"), ("card_id", "card"))),
        *(("/cards", one) for one in ({"number": ids["number"]}, {"email": "ann@example.org"}, {"external_id": "M-1"})),
        *(("/scans", {f"{kind}_id": ids[kind]}) for kind in ("event", "card", "ticket")),
    ]
    async with server.client((await tenant.key()).text) as client:
        for path, params in filters:
            answer = await client.get(path, params=params)
            assert (answer.status_code, answer.json()["data"]) == (200, []), (path, params)


async def test_a_person_and_an_external_id_are_found_in_their_own_organization_alone(
    server: GatepassProcess, tenant: factory.Tenant, theirs: tuple[factory.Tenant, dict[str, str]]
) -> None:
    body = {"holder": {"name": "Bea", "email": "bea@example.org"}, "external_id": "M-2"}
    made: list[str] = []
    for one in (theirs[0], tenant):
        async with server.client((await one.key()).text) as client:
            answer = await client.post("/cards", json=body)
        assert answer.status_code == 201
        made.append(answer.json()["data"]["id"])
    assert len(set(made)) == 2


async def stored(tenant: factory.Tenant) -> dict[str, str | None]:
    """A digest of the rows of an organization that the calls above could write."""
    tables = ("event", "ticket_category", "card", "card_holder", "ticket", "ticket_reference", "webhook_endpoint")
    tables += ("device", "incident")
    async with tenant.db.autocommit() as tx:
        return {
            table: await tx.value(
                f"SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM {table} t WHERE organization_id = $1",
                tenant.id,
            )
            for table in tables
        }


async def endpoint_call(client: httpx2.AsyncClient, endpoint: Endpoint, path: str) -> httpx2.Response:
    body = BODIES.get(str(endpoint), {}) if endpoint.method in ("POST", "PATCH") else None
    return await client.request(endpoint.method, path, json=body)
