"""Idempotency-Key: a retry gets the first answer, whatever happened meanwhile; another scan with the key is refused."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from gatepass.domain import tickets
from gatepass.domain.cards import Card, CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.sandbox import EVENT_ID
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.api.test_responses import FORGED, NOT_A_CARD
from tests.factory import Tenant


async def scan(client: httpx2.AsyncClient, body: dict[str, Any] | bytes, idempotency_key: str) -> httpx2.Response:
    options: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
    return await client.post("/scan", headers={"Idempotency-Key": idempotency_key}, **options)


def assert_replay(again: httpx2.Response, first: httpx2.Response) -> None:
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert again.headers.get("x-svc-should-retry") == first.headers.get("x-svc-should-retry")


async def test_an_activation_is_told_again_though_the_card_was_revoked(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    card = await tenant.card()
    first = await scan(client, scan_body(tenant, card.number), "k")
    assert first.status_code == 200
    await tenant.move_card(card, CardStatus.REVOKED)
    assert_replay(await scan(client, scan_body(tenant, card.number), "k"), first)
    assert_error(await scan(client, scan_body(tenant, card.number), "another"), 422, "card_revoked")


async def test_an_activation_is_told_again_though_it_was_undone(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """The retry is of the first scan; it must not use up the ticket a second time."""
    card = await tenant.card()
    first = await scan(client, scan_body(tenant, card.number), "k")
    async with tenant.db.transaction() as tx:
        ticket_id = await tx.value("SELECT id FROM ticket WHERE organization_id = $1", tenant.id)
        await tickets.undo_activation(tx, tenant.id, ticket_id, by=factory.BY, at=factory.now(), reason="test")
    assert_replay(await scan(client, scan_body(tenant, card.number), "k"), first)
    async with tenant.db.autocommit() as tx:
        assert await tx.value("SELECT activated_at FROM ticket WHERE id = $1", ticket_id) is None


# Whether the card has a ticket, a step that causes the refusal, and one that removes its cause.
Step = Callable[[Tenant, Card], Awaitable[Any]]


async def _nothing(tenant: Tenant, card: Card) -> None:
    pass


async def _suspend(tenant: Tenant, card: Card) -> None:
    await tenant.move_card(card, CardStatus.SUSPENDED)


async def _resume(tenant: Tenant, card: Card) -> None:
    await tenant.move_card(card, CardStatus.ACTIVE)


async def _issue(tenant: Tenant, card: Card) -> None:
    await tenant.ticket(card)


async def _cancel(tenant: Tenant, card: Card) -> None:
    async with tenant.db.transaction() as tx:
        id = await tx.value("SELECT id FROM ticket WHERE organization_id = $1 AND cancelled_at IS NULL", tenant.id)
        await tickets.cancel(tx, tenant.id, id, by=factory.BY, at=factory.now(), reason="test")


async def _end(tenant: Tenant, card: Card) -> None:
    await tenant.move_event(tenant.event_id, EventStatus.ENDED)


KEPT: dict[tuple[int, str], tuple[bool, Step, Step]] = {
    (404, "ticket_not_found"): (False, _nothing, _issue),
    (422, "card_suspended"): (True, _suspend, _resume),
    (422, "ticket_cancelled"): (True, _cancel, _issue),
    (422, "event_not_active"): (True, _end, _nothing),
}


@pytest.mark.parametrize("refusal", KEPT, ids=lambda refusal: refusal[1])
async def test_a_refusal_is_told_again_though_its_cause_is_gone(
    client: httpx2.AsyncClient, tenant: Tenant, refusal: tuple[int, str]
) -> None:
    with_ticket, cause, remedy = KEPT[refusal]
    card = await tenant.card(with_ticket=with_ticket)
    await cause(tenant, card)
    first = await scan(client, scan_body(tenant, card.number), "k")
    assert_error(first, *refusal)
    await remedy(tenant, card)
    assert_replay(await scan(client, scan_body(tenant, card.number), "k"), first)


async def test_the_other_refusals_are_kept_too(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    used, expired = await tenant.card(), await tenant.card()
    assert (await client.post("/scan", json=scan_body(tenant, used.number, gate="N"))).status_code == 200
    bodies = {
        409: scan_body(tenant, used.number),
        410: scan_body(tenant, token=tenant.token(expired, valid_for=timedelta(days=-1))),
        404: scan_body(tenant, NOT_A_CARD),
    }
    for status, body in bodies.items():
        first = await scan(client, body, f"k{status}")
        assert first.status_code == status
        assert_replay(await scan(client, body, f"k{status}"), first)


async def test_what_is_not_kept(api: Api, tenant: Tenant, client: httpx2.AsyncClient) -> None:
    """400, 401, 403, 413, 429 and 503 are no verdict on the scan; the key can be used after each of them."""
    card = await tenant.card()
    good = scan_body(tenant, card.number)
    weak, slow = (await tenant.key(Scope.EVENTS_READ)).text, (await tenant.key(rate=1)).text
    assert_error(await scan(client, b"{", "k"), 400, "invalid_request")
    assert_error(await scan(client, {**good, "gate": 5}, "k"), 400, "invalid_request")
    assert_error(await scan(client, scan_body(tenant, token=FORGED), "k"), 400, "invalid_token")
    assert_error(await scan(client, b" " * 20_000, "k"), 413, "request_too_large")
    async with api.client("svc_live_x") as other:
        assert_error(await scan(other, good, "k"), 401, "invalid_key")
    async with api.client(weak) as other:
        assert_error(await scan(other, good, "k"), 403, "insufficient_scope")
    async with api.client(slow) as other:
        refused = [await scan(other, b"{", "k") for _ in range(10)][-1]
        assert_error(refused, 429, "rate_limited")
    answer = await scan(client, good, "k")
    assert answer.status_code == 200
    assert "Idempotent-Replayed" not in answer.headers


async def test_a_key_belongs_to_one_organization_and_mode(api: Api, tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    clients = [
        (await tenant.key(), scan_body(tenant, (await tenant.card()).number)),
        (await other.key(), scan_body(other, (await other.card()).number)),
        (await tenant.key(mode=Mode.SANDBOX), {"event_id": str(EVENT_ID), "card_number": "TEST_VALID"}),
        (await other.key(mode=Mode.SANDBOX), {"event_id": str(EVENT_ID), "card_number": "TEST_VIP"}),
    ]
    for key, body in clients:
        async with api.client(key.text) as client:
            first = await scan(client, body, "the same everywhere")
            assert first.status_code == 200
            assert_replay(await scan(client, body, "the same everywhere"), first)


async def test_a_key_is_shared_by_the_keys_of_an_organization(api: Api, tenant: Tenant) -> None:
    """A gate may get a new API key between the scan and its retry."""
    body = scan_body(tenant, (await tenant.card()).number)
    async with api.client((await tenant.key()).text) as one, api.client((await tenant.key()).text) as another:
        assert_replay(first=await scan(one, body, "k"), again=await scan(another, body, "k"))


async def test_a_retry_may_be_spelled_differently(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card, at = await tenant.card(), (factory.now() - timedelta(minutes=5)).replace(microsecond=0)
    body = scan_body(tenant, card.number, gate="North", occurred_at=at.isoformat().replace("+00:00", "Z"))
    first = await scan(client, body, "k")
    assert first.status_code == 200
    spellings: list[dict[str, Any] | bytes] = [
        dict(reversed(body.items())),
        json.dumps(body, indent=4).encode() + b"\n\n",
        {**body, "unknown": {"fields": ["are", "ignored"]}, "firmware": 7},
        {**body, "event_id": body["event_id"].upper()},
        {**body, "card_number": card.number.lower().replace(" ", "-")},
        {**body, "scanner_id": None},
        {**body, "occurred_at": at.astimezone().isoformat()},
        {**body, "occurred_at": at.isoformat()},
    ]
    for spelling in spellings:
        assert_replay(await scan(client, spelling, "k"), first)


async def test_a_retry_may_not_ask_for_something_else(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card, other = await tenant.card(), await tenant.card()
    body = scan_body(tenant, card.number, gate="North", scanner_id="s")
    assert (await scan(client, body, "k")).status_code == 200
    others: list[dict[str, Any]] = [
        {**body, "card_number": other.number},
        {**body, "event_id": str(uuid4())},
        {**body, "gate": "South"},
        {**body, "gate": None},
        {**body, "gate": ""},
        {**body, "scanner_id": "t"},
        {**body, "gate": "s", "scanner_id": "North"},
        {**body, "occurred_at": factory.now().isoformat()},
        scan_body(tenant, gate="North", scanner_id="s", token=tenant.token(card)),
    ]
    for asked in others:
        answer = await scan(client, asked, "k")
        assert_error(answer, 422, "idempotency_key_reused")
        assert "Idempotent-Replayed" not in answer.headers
    assert (await scan(client, scan_body(tenant, other.number), "free")).status_code == 200


async def test_a_key_has_up_to_255_characters(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    longest = "k" * 255
    body = scan_body(tenant, (await tenant.card()).number)
    assert_error(await scan(client, body, longest + "k"), 400, "invalid_request", param="Idempotency-Key")
    assert_error(await scan(client, body, ""), 400, "invalid_request", param="Idempotency-Key")
    first = await scan(client, body, longest)
    assert first.status_code == 200
    assert_replay(await scan(client, body, longest), first)
    assert_error(await scan(client, scan_body(tenant, NOT_A_CARD), longest[:-1]), 404, "card_not_found")


async def test_twins_at_the_same_moment_get_the_same_answer(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    for n in range(10):
        body = scan_body(tenant, (await tenant.card()).number if n % 2 else NOT_A_CARD)
        answers = await asyncio.gather(*(scan(client, body, f"twins {n}") for _ in range(6)))
        assert len({(answer.status_code, answer.content) for answer in answers}) == 1
        assert sorted(answer.headers.get("Idempotent-Replayed", "") for answer in answers) == ["", *["true"] * 5]


async def test_an_answer_is_kept_for_a_day_and_through_a_rotation(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """The previous generation is still read, so a key is known for at least 24 hours."""
    body = scan_body(tenant, (await tenant.card()).number)
    first = await scan(client, body, "k")
    async with tenant.db.transaction() as tx:
        rotated = await tx.value("SELECT open_next_generation(now(), now())")
    assert rotated
    assert_replay(await scan(client, body, "k"), first)
