"""The sandbox twin: a sandbox key alone goes from nothing to a cancelled event and its messages."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.base.clock import rfc3339
from gatepass.domain import maintenance, twin, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.sandbox import CARDS, EVENT_ID
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.factory import Tenant

ANN = {"name": "Ann", "email": "ann@example.org"}
STATUSES = {"already_activated": 400, "expired": 400, "card_revoked": 400, "card_suspended": 422}
FORGED = "SVC1.U1ZDIDAwMDAgMDAwMCAwMDAw.9999999999." + "A" * 86


@pytest.fixture
async def sandbox(api: Api, tenant: Tenant) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client with a sandbox key that may do everything."""
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as opened:
        yield opened


async def done(answer: httpx2.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


async def event_of(client: httpx2.AsyncClient, title: str = "Rehearsal") -> tuple[str, str]:
    """A published event and its category."""
    starts_at = factory.now() + timedelta(days=1)
    body = {"title": title, "starts_at": rfc3339(starts_at), "ends_at": rfc3339(starts_at + timedelta(hours=4))}
    event_id = (await done(await client.post("/events", json=body), 201))["id"]
    category = {"name": "General", "price": 25.5, "currency": "EUR", "quantity_total": 100}
    made = await done(await client.post(f"/events/{event_id}/ticket-categories", json=category), 201)
    await done(await client.post(f"/events/{event_id}/publish"))
    return event_id, made["id"]


async def ticket_of(client: httpx2.AsyncClient, event_id: str, category_id: str, **more: Any) -> dict[str, Any]:
    body = {"event_id": event_id, "category_id": category_id, **({"holder": ANN} | more)}
    return await done(await client.post("/tickets", json=body), 201)


async def test_from_nothing_to_a_cancelled_event(api: Api, sandbox: httpx2.AsyncClient, tenant: Tenant) -> None:
    event_id, category_id = await event_of(sandbox)
    ticket = await ticket_of(sandbox, event_id, category_id, external_id="A-1")
    token = await done(await sandbox.post(f"/cards/{ticket['card_id']}/token"))
    shown = (await sandbox.get("/card/verify", params={"token": token["token"]})).json()
    assert (shown["valid"], shown["card_number"]) == (True, ticket["card_number"])
    assert len((await sandbox.get("/card/keys")).json()["keys"]) == 1
    scan = {"event_id": event_id, "token": token["token"], "gate": "North"}
    assert (await done(await sandbox.post("/scan", json=scan)))["ticket_id"] == ticket["id"]
    again = await sandbox.post("/scan", json=scan)
    assert_error(again, 400, "already_activated")
    assert again.json()["details"]["gate"] == "North"
    assert (await done(await sandbox.get(f"/tickets/{ticket['id']}")))["state"] == "activated"
    verdicts = [one["verdict"] for one in (await sandbox.get("/scans", params={"event_id": event_id})).json()["data"]]
    assert verdicts == ["already_activated", "activated"]
    await done(await sandbox.post(f"/events/{event_id}/cancel", json={"reason": "rain"}))
    await maintenance.follow_up(tenant.db, at=factory.now())
    assert (await done(await sandbox.get(f"/tickets/{ticket['id']}")))["cancel_reason"] == "rain"
    assert_error(await sandbox.post("/scan", json=scan), 422, "event_not_active")
    messages = (await sandbox.get("/webhook-events")).json()["data"]
    assert {"event.published", "card.issued", "ticket.issued", "ticket.activated", "event.cancelled"} < {
        message["type"] for message in messages
    }
    (cancelled,) = (message for message in messages if message["type"] == "ticket.cancelled")
    assert cancelled["data"]["reason"] == "rain"
    assert {message["organization_id"] for message in messages} == {str(tenant.id)}
    async with api.client((await tenant.key()).text) as live:
        assert (await live.get("/webhook-events")).json()["data"] == []
        assert [one["id"] for one in (await live.get("/events")).json()["data"]] == [str(tenant.event_id)]


async def test_messages_reach_the_sandbox_endpoints_of_the_organization(
    sandbox: httpx2.AsyncClient, tenant: Tenant
) -> None:
    live, _ = await tenant.endpoint("https://example.com/live", *webhooks.SUBSCRIBABLE)
    body = {"url": "https://example.com/hook", "types": ["ticket.issued", "ticket.activated"]}
    endpoint = await done(await sandbox.post("/webhooks", json=body), 201)
    ticket = await ticket_of(sandbox, *await event_of(sandbox))
    await done(await sandbox.post("/scan", json={k: ticket[k] for k in ("event_id", "card_number")}))
    sent = (await sandbox.get(f"/webhooks/{endpoint['id']}/deliveries")).json()["data"]
    assert [one["type"] for one in sent] == ["ticket.activated", "ticket.issued"]
    async with tenant.db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM webhook_delivery WHERE endpoint_id = $1", live) == 0


async def test_refusals_have_the_statuses_of_the_sandbox_at_a_gate_alone(sandbox: httpx2.AsyncClient) -> None:
    event_id, category_id = await event_of(sandbox)
    ticket = await ticket_of(sandbox, event_id, category_id)
    scan, card = {"event_id": event_id, "card_number": ticket["card_number"]}, f"/cards/{ticket['card_id']}"
    await done(await sandbox.post(f"{card}/suspend", json={"reason": "lost"}))
    assert_error(await sandbox.post("/scan", json=scan), 422, "card_suspended")
    await done(await sandbox.post(f"{card}/revoke", json={"reason": "lost"}))
    assert_error(await sandbox.post("/scan", json=scan), 400, "card_revoked")
    assert_error(await sandbox.post(f"{card}/token"), 422, "card_revoked")
    tokens = await done(await sandbox.post("/card-tokens", json={"cards": [ticket["card_id"]]}))
    assert (tokens[0]["status"], tokens[0]["code"]) == (422, "card_revoked")


async def test_a_token_that_has_expired(sandbox: httpx2.AsyncClient, tenant: Tenant) -> None:
    there = await factory.sandbox_twin(tenant)
    card = await there.card()
    scan = {"event_id": str(there.event_id), "token": there.token(card, valid_for=-timedelta(seconds=9))}
    assert_error(await sandbox.post("/scan", json=scan), 400, "expired")


@pytest.mark.parametrize("name", CARDS)
async def test_test_cards_are_for_the_fictional_event_alone(sandbox: httpx2.AsyncClient, name: str) -> None:
    event_id, _ = await event_of(sandbox)
    for shown in ({"card_number": name}, {"token": f"SVC1.{name}.0.0"}):
        answer = await sandbox.post("/scan", json={"event_id": str(EVENT_ID), **shown})
        verdict = answer.json().get("code", "activated")
        assert verdict == CARDS[name].verdict
        live = {"activated": 200, "ticket_not_found": 404, "ticket_cancelled": 422}
        assert answer.status_code == (live | STATUSES)[verdict]
        assert_error(await sandbox.post("/scan", json={"event_id": event_id, **shown}), 404, "card_not_found")


async def test_cards_of_the_twin_are_unknown_at_the_fictional_event(
    sandbox: httpx2.AsyncClient, tenant: Tenant
) -> None:
    there = await factory.sandbox_twin(tenant)
    card = await there.card()
    for shown in ({"card_number": card.number}, {"token": there.token(card)}):
        answer = await sandbox.post("/scan", json={"event_id": str(EVENT_ID), **shown})
        assert_error(answer, 404, "card_not_found")


@pytest.mark.parametrize(
    ("token", "refused"),
    [
        ("SVC1.TEST_OTHER.0.0", (404, "card_not_found")),
        ("SVC1.SVC.0.0", (404, "card_not_found")),
        (FORGED, (400, "invalid_token")),
        ("SVC1.TEST_VALID.0.1", (400, "invalid_token")),
    ],
)
async def test_unsigned_tokens_are_for_the_test_cards_alone(
    sandbox: httpx2.AsyncClient, token: str, refused: tuple[int, str]
) -> None:
    for event_id in (str(EVENT_ID), (await event_of(sandbox))[0]):
        assert_error(await sandbox.post("/scan", json={"event_id": event_id, "token": token}), *refused)
    assert (await sandbox.get("/card/verify", params={"token": token})).json()["reason"] == "invalid_token"


async def test_the_list_has_the_fictional_event_in_its_place(sandbox: httpx2.AsyncClient) -> None:
    assert [one["id"] for one in (await sandbox.get("/events")).json()["data"]] == [str(EVENT_ID)]
    before = [(await event_of(sandbox, title))[0] for title in ("A", "B")]
    body = {"starts_at": "2040-01-01T00:00:00Z", "ends_at": "2040-01-02T00:00:00Z"}
    await done(await sandbox.patch(f"/events/{before[1]}", json=body))
    wanted, found, params = [before[0], str(EVENT_ID), before[1]], list[str](), {"limit": "1"}
    while True:
        page = (await sandbox.get("/events", params=params)).json()
        found += [one["id"] for one in page["data"]]
        if not page["has_more"]:
            break
        params["cursor"] = page["next_cursor"]
    assert found == wanted
    assert (await sandbox.get("/events", params={"status": "draft"})).json()["data"] == []


async def test_nothing_can_be_issued_for_the_fictional_event(sandbox: httpx2.AsyncClient) -> None:
    body = {"event_id": str(EVENT_ID), "category_id": str(uuid4()), "holder": ANN}
    assert_error(await sandbox.post("/tickets", json=body), 404, "event_not_found")


async def test_one_person_has_a_card_in_each_mode(api: Api, sandbox: httpx2.AsyncClient, tenant: Tenant) -> None:
    body = {"holder": ANN, "external_id": "M-1"}
    made = await done(await sandbox.post("/cards", json=body, headers={"Idempotency-Key": "k"}), 201)
    async with api.client((await tenant.key()).text) as live:
        other = await done(await live.post("/cards", json=body, headers={"Idempotency-Key": "k"}), 201)
    assert made["id"] != other["id"]
    again = await sandbox.post("/cards", json=body, headers={"Idempotency-Key": "k"})
    assert (again.headers["Idempotent-Replayed"], again.json()["data"]["id"]) == ("true", made["id"])


async def test_a_full_sandbox_takes_no_more(
    sandbox: httpx2.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    event_id, category_id = await event_of(sandbox)
    for name in ("MOST_EVENTS", "MOST_CARDS", "MOST_TICKETS"):
        monkeypatch.setattr(twin, name, 3)
    wanted = {
        "/events": {"title": "x", "starts_at": "2040-01-01T00:00:00Z", "ends_at": "2040-01-02T00:00:00Z"},
        "/cards": {},
        "/tickets": {"event_id": event_id, "category_id": category_id, "holder": ANN},
    }
    answers = await asyncio.gather(*[sandbox.post("/cards", json={}) for _ in range(8)])
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 5
    assert {answer.json()["code"] for answer in answers if answer.is_error} == {"sandbox_full"}
    for path in ("/cards", "/tickets"):
        refused = await sandbox.post(path, json=wanted[path], headers={"Idempotency-Key": path})
        assert_error(refused, 409, "sandbox_full")
    batch = await sandbox.post("/tickets/batch", json={"tickets": [wanted["/tickets"]]})
    assert_error(batch, 409, "sandbox_full")
    races = await asyncio.gather(*[sandbox.post("/events", json=wanted["/events"]) for _ in range(5)])
    assert sorted(answer.status_code for answer in races) == [201] * 2 + [409] * 3
    async with tenant.db.autocommit() as tx:
        held = [
            await tx.value(f"SELECT count(*) FROM {table} WHERE organization_id = $1", twin.twin_id(tenant.id))
            for table in ("event", "card", "ticket")
        ]
    assert held == [3, 3, 0]


async def test_the_row_of_a_call_is_the_organizations(sandbox: httpx2.AsyncClient, tenant: Tenant) -> None:
    event_id, _ = await event_of(sandbox)
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT mode, path, event_id FROM logged_call WHERE organization_id = $1", tenant.id)
        others = await tx.value("SELECT count(*) FROM logged_call WHERE organization_id = $1", twin.twin_id(tenant.id))
    assert ("sandbox", "/events/{id}/publish", UUID(event_id)) in {tuple(row) for row in rows}
    assert others == 0


async def test_webhooks_of_the_sandbox_need_no_twin(sandbox: httpx2.AsyncClient, tenant: Tenant) -> None:
    body = {"url": "https://example.com/hook", "types": ["ticket.issued"]}
    await done(await sandbox.post("/webhooks", json=body), 201)
    await sandbox.post("/scan", json={"event_id": str(EVENT_ID), "card_number": "TEST_VALID"})
    async with tenant.db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM organization WHERE twin_of = $1", tenant.id) == 0


async def test_twenty_gates_one_ticket(sandbox: httpx2.AsyncClient) -> None:
    ticket = await ticket_of(sandbox, *await event_of(sandbox))
    body = {"event_id": ticket["event_id"], "card_number": ticket["card_number"]}
    answers = await asyncio.gather(*[sandbox.post("/scan", json=body) for _ in range(20)])
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 19


async def test_messages_name_a_card_as_it_is_called_however_it_was_typed(sandbox: httpx2.AsyncClient) -> None:
    types = ["ticket.activated", "scan.denied"]
    await done(await sandbox.post("/webhooks", json={"url": "https://example.com/hook", "types": types}), 201)
    spellings = {
        " test_valid ": "TEST_VALID",
        "Test_Used": "TEST_USED",
        "svc-1234\u22125678 9017": "SVC 1234 5678 9017",
        "x": "x",
    }
    for typed in spellings:
        await sandbox.post("/scan", json={"event_id": str(EVENT_ID), "card_number": typed})
    told = (await sandbox.get("/webhook-events")).json()["data"]
    assert [message["data"]["card_number"] for message in told] == list(spellings.values())
