"""Errors: one table of statuses, one shape, and one order of the checks of a scan."""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import httpx2
import pytest

import gatepass
from gatepass.api import responses
from gatepass.base.errors import Refusal
from gatepass.card_page import errors as card_page_errors
from gatepass.domain import cards, tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.tickets.activation import REFUSALS
from gatepass.studio import errors as studio_errors
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.factory import Tenant

FORGED = "SVC1.U1ZDIDAwMDAgMDAwMCAwMDAw.4102444800." + "A" * 86
NOT_A_CARD = "SVC 0000 0000 0000"
TOO_LARGE = b'{"gate": "' + b"x" * 17_000
DAY_AGO = timedelta(days=-1)


def _every_refusal() -> list[type[Refusal]]:
    for module in pkgutil.walk_packages(gatepass.__path__, "gatepass."):
        if not module.name.startswith("gatepass.migrations"):
            importlib.import_module(module.name)
    found = Refusal.__subclasses__()
    for kind in found:
        found += kind.__subclasses__()
    return sorted({kind for kind in found if hasattr(kind, "code")}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", _every_refusal(), ids=lambda kind: kind.__name__)
def test_every_refusal_has_a_status_a_code_and_a_sentence(kind: type[Refusal]) -> None:
    """In the table of at least one interface; each has the refusals that it can meet."""
    tables = (responses.STATUS, studio_errors.STATUS, card_page_errors.STATUS)
    for statuses in tables:
        assert 400 <= statuses.get(kind, 400) <= 503
    assert any(kind in statuses for statuses in tables)
    assert kind.code == kind.code.lower()
    assert kind.sentence().endswith(".")


def test_every_verdict_has_a_status_in_both_modes() -> None:
    for mode in Mode:
        assert responses.VERDICT_STATUSES[mode].keys() == {tickets.ACTIVATED, *REFUSALS}


async def test_the_answer_of_a_refusal(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    assert_error(await client.post("/scan", json=scan_body(tenant, gate="G")), 400, "invalid_request")
    assert_error(await client.get("/events", params={"limit": "0"}), 400, "invalid_request", param="limit")
    assert_error(await client.get("/card/verify"), 400, "invalid_request", param="token")
    assert_error(await client.get("/nowhere"), 404, "not_found")
    wrong = await client.delete("/scan")
    assert_error(wrong, 405, "method_not_allowed")
    assert wrong.headers["Allow"] == "POST"
    assert (await client.put("/webhooks")).headers["Allow"] == "GET, POST"
    assert (await client.put(f"/webhooks/{tenant.id}")).headers["Allow"] == "DELETE, GET, PATCH"
    hidden = await client.get("/tickets/batch")  # not the ticket of this id
    assert_error(hidden, 405, "method_not_allowed")
    assert hidden.headers["Allow"] == "POST"
    assert (await client.get("/tickets/BATCH")).status_code == 404
    async with api.client() as nobody:
        missing = await nobody.get("/events")
        assert_error(missing, 401, "invalid_key")
        assert missing.headers["WWW-Authenticate"] == "Bearer"
        assert_error(await nobody.get("/nowhere"), 401, "invalid_key")
        assert_error(await nobody.delete("/scan"), 401, "invalid_key")
        assert_error(await nobody.get("/tickets/batch"), 401, "invalid_key")
        assert_error(await nobody.get("http://gatepass.test/elsewhere"), 404, "not_found")


async def test_already_activated_says_when_and_where(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    first = await client.post("/scan", json=scan_body(tenant, card.number, gate="North", scanner_id="s-1"))
    assert first.status_code == 200
    again = await client.post("/scan", json=scan_body(tenant, card.number, gate="South"))
    assert_error(again, 409, "already_activated")
    details = again.json()["details"]
    assert details.keys() == {"activated_at", "gate", "scanner_id"}
    assert (details["gate"], details["scanner_id"]) == ("North", "s-1")
    assert details["activated_at"].endswith("Z")


async def test_every_answer_has_a_request_id_of_its_own(client: httpx2.AsyncClient) -> None:
    answers = [await client.get(path) for path in ("/events", "/nowhere", "/card/keys", "/events") for _ in range(5)]
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(answers)


# The order of the checks, as in decisions.md: each case breaks two rules, and the earlier one is the refusal.
Case = Callable[["Gate"], Awaitable[httpx2.Response]]


class Gate:
    """A gate with a client, and everything that can be wrong with a scan."""

    def __init__(self, api: Api, tenant: Tenant, client: httpx2.AsyncClient) -> None:
        self.api, self.tenant, self.client = api, tenant, client

    async def scan(
        self, *, idempotency_key: str | None = None, key: str | None = None, raw: bytes | None = None, **body: Any
    ) -> httpx2.Response:
        options: dict[str, Any] = {"json": {"event_id": str(self.tenant.event_id), **body}} if raw is None else {}
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key is not None else {}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return await self.client.post("/scan", headers=headers, content=raw, **options)

    async def card(self, status: CardStatus | None = None, *, with_ticket: bool = True) -> cards.Card:
        card = await self.tenant.card(with_ticket=with_ticket)
        if status is not None:
            await self.tenant.move_card(card, status)
        return card

    async def used(self, card: cards.Card, idempotency_key: str | None = None) -> None:
        assert (await self.scan(card_number=card.number, idempotency_key=idempotency_key)).status_code == 200

    async def cancelled(self, card: cards.Card) -> None:
        async with self.tenant.db.transaction() as tx:
            id = await tx.value(
                "SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2", self.tenant.id, card.id
            )
            await tickets.cancel(tx, self.tenant.id, id, by=factory.BY, at=factory.now(), reason="test")

    def expired(self, card: cards.Card) -> str:
        return self.tenant.token(card, valid_for=DAY_AGO)


async def revoked_key_without_scope(gate: Gate) -> httpx2.Response:
    key = await gate.tenant.key(Scope.EVENTS_READ, expires_at=factory.now() + DAY_AGO)
    return await gate.scan(key=key.text, card_number=NOT_A_CARD)


async def no_scope_and_over_the_rate(gate: Gate) -> httpx2.Response:
    key = (await gate.tenant.key(Scope.EVENTS_READ, rate=1)).text
    answers = [await gate.scan(key=key, card_number=NOT_A_CARD) for _ in range(10)]
    assert answers[-1].headers["RateLimit"].startswith('"scan";r=0;')
    return answers[-1]


async def over_the_rate_and_too_large(gate: Gate) -> httpx2.Response:
    key = (await gate.tenant.key(rate=1)).text
    return [await gate.scan(key=key, raw=TOO_LARGE) for _ in range(10)][-1]


async def too_large_and_not_json(gate: Gate) -> httpx2.Response:
    return await gate.scan(raw=TOO_LARGE)


async def wrong_field_and_forged_token(gate: Gate) -> httpx2.Response:
    return await gate.scan(token=FORGED, gate="x" * 65)


async def empty_idempotency_key_and_forged_token(gate: Gate) -> httpx2.Response:
    return await gate.scan(token=FORGED, idempotency_key="")


async def forged_token_and_reused_key(gate: Gate) -> httpx2.Response:
    await gate.used(await gate.card(), "seen")
    return await gate.scan(token=FORGED, idempotency_key="seen")


async def reused_key_and_unknown_event(gate: Gate) -> httpx2.Response:
    card = await gate.card()
    await gate.used(card, "seen")
    return await gate.scan(event_id=str(card.id), card_number=card.number, idempotency_key="seen")


async def seen_key_and_cancelled_event(gate: Gate) -> httpx2.Response:
    card = await gate.card()
    await gate.used(card, "seen")
    await gate.tenant.move_event(gate.tenant.event_id, EventStatus.CANCELLED)
    return await gate.scan(card_number=card.number, idempotency_key="seen")


async def unknown_event_and_expired_token(gate: Gate) -> httpx2.Response:
    card = await gate.card()
    return await gate.scan(event_id=str(card.id), token=gate.expired(card))


async def draft_event_and_expired_token(gate: Gate) -> httpx2.Response:
    draft = await gate.tenant.event(status=EventStatus.DRAFT)
    return await gate.scan(event_id=str(draft), token=gate.expired(await gate.card()))


async def expired_token_and_unknown_card(gate: Gate) -> httpx2.Response:
    return await gate.scan(token=gate.tenant.sign(NOT_A_CARD, factory.now() + DAY_AGO))


async def expired_token_of_a_suspended_card(gate: Gate) -> httpx2.Response:
    return await gate.scan(token=gate.expired(await gate.card(CardStatus.SUSPENDED)))


async def unknown_card_and_no_ticket(gate: Gate) -> httpx2.Response:
    return await gate.scan(card_number=NOT_A_CARD)


async def suspended_card_without_ticket(gate: Gate) -> httpx2.Response:
    return await gate.scan(card_number=(await gate.card(CardStatus.SUSPENDED, with_ticket=False)).number)


async def revoked_card_with_used_ticket(gate: Gate) -> httpx2.Response:
    card = await gate.card()
    await gate.used(card)
    await gate.tenant.move_card(card, CardStatus.REVOKED)
    return await gate.scan(card_number=card.number)


async def revoked_card_with_cancelled_ticket(gate: Gate) -> httpx2.Response:
    card = await gate.card()
    await gate.cancelled(card)
    await gate.tenant.move_card(card, CardStatus.REVOKED)
    return await gate.scan(card_number=card.number)


async def no_ticket_here_and_a_used_one_elsewhere(gate: Gate) -> httpx2.Response:
    card = await gate.card()
    await gate.used(card)
    return await gate.scan(event_id=str(await gate.tenant.event()), card_number=card.number)


async def cancelled_ticket_that_was_used(gate: Gate) -> httpx2.Response:
    card = await gate.card()
    await gate.used(card)
    await gate.cancelled(card)
    return await gate.scan(card_number=card.number)


ORDER: dict[Case, tuple[int, str | None]] = {
    revoked_key_without_scope: (401, "invalid_key"),
    no_scope_and_over_the_rate: (403, "insufficient_scope"),
    over_the_rate_and_too_large: (429, "rate_limited"),
    too_large_and_not_json: (413, "request_too_large"),
    wrong_field_and_forged_token: (400, "invalid_request"),
    empty_idempotency_key_and_forged_token: (400, "invalid_request"),
    forged_token_and_reused_key: (400, "invalid_token"),
    reused_key_and_unknown_event: (422, "idempotency_key_reused"),
    seen_key_and_cancelled_event: (200, None),
    unknown_event_and_expired_token: (404, "event_not_found"),
    draft_event_and_expired_token: (422, "event_not_active"),
    expired_token_and_unknown_card: (410, "expired"),
    expired_token_of_a_suspended_card: (410, "expired"),
    unknown_card_and_no_ticket: (404, "card_not_found"),
    suspended_card_without_ticket: (422, "card_suspended"),
    revoked_card_with_used_ticket: (422, "card_revoked"),
    revoked_card_with_cancelled_ticket: (422, "card_revoked"),
    no_ticket_here_and_a_used_one_elsewhere: (404, "ticket_not_found"),
    cancelled_ticket_that_was_used: (422, "ticket_cancelled"),
}


@pytest.mark.parametrize("case", ORDER, ids=lambda case: case.__name__)
async def test_the_first_check_that_fails_answers(
    api: Api, tenant: Tenant, client: httpx2.AsyncClient, case: Case
) -> None:
    status, code = ORDER[case]
    answer = await case(Gate(api, tenant, client))
    if code is None:
        assert (answer.status_code, answer.headers.get("Idempotent-Replayed")) == (status, "true")
    else:
        assert_error(answer, status, code)
