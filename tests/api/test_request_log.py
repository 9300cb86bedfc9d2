"""The request log: one row for each call with a known key, refused ones included; never a token, a key or a body."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.base.database import Row
from gatepass.domain import keys, tickets
from gatepass.domain.cards import Card, CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import IssuedKey, Mode
from gatepass.domain.sandbox import EVENT_ID
from tests import factory
from tests.api.conftest import Api, request_id, scan_body
from tests.api.endpoints import ENDPOINTS, SCAN
from tests.api.test_responses import FORGED, NOT_A_CARD
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.size import NIGHT


@dataclass
class Asked:
    """A call, and the expected columns of its row."""

    method: str
    path: str
    status: int
    code: str | None
    template: str
    options: Mapping[str, Any]
    event_id: UUID | None = None
    card_id: UUID | None = None


def read(path: str, status: int, code: str | None = None, *, template: str | None = None, **options: Any) -> Asked:
    return Asked("GET", path, status, code, template or path, options)


def scan(
    body: dict[str, Any] | bytes, status: int, code: str | None = None, *, card: Card | None = None, key: str = ""
) -> Asked:
    options: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
    if key:
        options["headers"] = {"Idempotency-Key": key}
    event_id = UUID(body["event_id"]) if isinstance(body, dict) and "event_id" in body else None
    return Asked("POST", "/scan", status, code, "/scan", options, event_id, card.id if card else None)


async def live_calls(tenant: Tenant) -> list[Asked]:
    """Every endpoint, with each of its answers."""
    card, used, suspended, revoked, cancelled = [await tenant.card() for _ in range(5)]
    without = await tenant.card(with_ticket=False)
    await tenant.move_card(suspended, CardStatus.SUSPENDED)
    await tenant.move_card(revoked, CardStatus.REVOKED)
    async with tenant.db.transaction() as tx:
        find = "SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2"
        id = await tx.value(find, tenant.id, cancelled.id)
        await tickets.cancel(tx, tenant.id, id, by=factory.BY, at=factory.now(), reason="test")
    draft = await tenant.event(status=EventStatus.DRAFT)
    body, by_number = scan_body(tenant), lambda one: scan_body(tenant, one.number, gate="a secret gate")
    return [
        read("/events", 200),
        read("/events", 400, "invalid_request", params={"limit": "0"}),
        read(f"/events/{tenant.event_id}", 200, template="/events/{id}"),
        read(f"/events/{uuid4()}", 404, "event_not_found", template="/events/{id}"),
        read("/events/not-an-id", 404, "event_not_found", template="/events/{id}"),
        read("/card/verify", 200, params={"token": tenant.token(card)}),
        read("/card/verify", 200, params={"token": FORGED}),
        read("/card/verify", 400, "invalid_request"),
        read("/card/keys", 200),
        read("/nowhere", 404, "not_found", template="(unknown)"),
        scan({**body, "token": tenant.token(card)}, 200, card=card, key="a secret idempotency key"),
        scan(by_number(used), 200, card=used),
        scan(by_number(used), 409, "already_activated", card=used),
        scan(by_number(card), 422, "idempotency_key_reused", card=card, key="a secret idempotency key"),
        scan(b'{"token": "a secret body', 400, "invalid_request"),
        scan({**body, "token": FORGED}, 400, "invalid_token"),
        scan(b"a secret body" * 2_000, 413, "request_too_large"),
        scan({**body, "event_id": str(uuid4()), "card_number": card.number}, 404, "event_not_found", card=card),
        scan({**body, "event_id": str(draft), "card_number": card.number}, 422, "event_not_active", card=card),
        scan({**body, "token": tenant.token(card, valid_for=timedelta(-1))}, 410, "expired", card=card),
        scan({**body, "card_number": NOT_A_CARD}, 404, "card_not_found"),
        scan(by_number(suspended), 422, "card_suspended", card=suspended),
        scan(by_number(revoked), 422, "card_revoked", card=revoked),
        scan(by_number(without), 404, "ticket_not_found", card=without),
        scan(by_number(cancelled), 422, "ticket_cancelled", card=cancelled),
    ]


def sandbox_calls() -> list[Asked]:
    body = {"event_id": str(EVENT_ID)}
    return [
        read("/events", 200),
        read(f"/events/{EVENT_ID}", 200, template="/events/{id}"),
        read(f"/events/{uuid4()}", 404, "event_not_found", template="/events/{id}"),
        read("/card/verify", 200, params={"token": "SVC1.TEST_VALID.0.0"}),
        read("/card/keys", 200),
        scan({**body, "card_number": "TEST_VALID"}, 200),
        scan({**body, "token": "SVC1.TEST_VIP.0.0"}, 200),
        scan({**body, "card_number": "TEST_USED"}, 400, "already_activated"),
        scan({**body, "card_number": "TEST_EXPIRED"}, 400, "expired"),
        scan({**body, "card_number": "TEST_REVOKED"}, 400, "card_revoked"),
        scan({**body, "card_number": "x"}, 404, "card_not_found"),
        scan({"event_id": str(uuid4()), "card_number": "TEST_VALID"}, 404, "event_not_found"),
    ]


async def rows_of(tenant: Tenant) -> dict[UUID, Row]:
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT * FROM logged_call WHERE organization_id = $1", tenant.id)
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


async def written(tenant: Tenant, answers: list[httpx2.Response]) -> dict[UUID, Row]:
    """The rows, once each of these answers has one."""

    async def all_are_there() -> bool:
        return {request_id(answer) for answer in answers} <= (await rows_of(tenant)).keys()

    await wait_for(all_are_there)
    return await rows_of(tenant)


def assert_row(row: Row, asked: Asked, answer: httpx2.Response, key: IssuedKey, mode: Mode, api: Api) -> None:
    assert (answer.status_code, answer.json().get("code")) == (asked.status, asked.code), (asked, answer.text)
    said = {name: row[name] for name in ("method", "path", "status", "code", "event_id", "card_id", "mode", "key_id")}
    assert said == {
        "method": asked.method,
        "path": asked.template,
        "status": asked.status,
        "code": asked.code,
        "event_id": asked.event_id,
        "card_id": asked.card_id,
        "mode": mode,
        "key_id": key.id,
    }
    assert str(row["address"]) == api.address
    assert 0 < row["duration_us"] < 60_000_000
    assert abs(factory.now() - row["at"]) < timedelta(minutes=5)


@pytest.mark.parametrize("mode", Mode)
async def test_every_call_has_its_row(api: Api, tenant: Tenant, mode: Mode) -> None:
    key = await tenant.key(mode=mode)
    calls = await live_calls(tenant) if mode is Mode.LIVE else sandbox_calls()
    answers: list[httpx2.Response] = []
    async with api.client(key.text) as client:
        for asked in calls:
            answers.append(await client.request(asked.method, asked.path, **asked.options))
            if asked.method == "POST":
                assert request_id(answers[-1]) in await rows_of(tenant), "a scan's row is there with its answer"
    rows = await written(tenant, answers)
    assert len(rows) == len(answers)
    for asked, answer in zip(calls, answers, strict=True):
        assert_row(rows[request_id(answer)], asked, answer, key, mode, api)


async def test_a_refusal_before_the_handler_has_its_row(api: Api, tenant: Tenant) -> None:
    """403, 405 and 429, at every endpoint."""
    weak = {scope: await tenant.key(scope) for scope in {endpoint.wrong_scope for endpoint in ENDPOINTS}}
    slow = await tenant.key(rate=1)
    refused: list[httpx2.Response] = []
    for endpoint in ENDPOINTS:
        async with api.client(weak[endpoint.wrong_scope].text) as weak_client:
            refused.append(await endpoint.call(weak_client))
    async with api.client(slow.text) as slow_client:
        fast = [[await endpoint.call(slow_client) for _ in range(5)][-1] for endpoint in ENDPOINTS for _ in range(2)]
    async with api.client((await tenant.key()).text) as client:
        wrong = [await client.request("PUT", endpoint.path) for endpoint in ENDPOINTS]
    rows = await written(tenant, [*refused, *wrong, *fast])
    for endpoint, answer in zip(ENDPOINTS, refused, strict=True):
        row = rows[request_id(answer)]
        assert (row["status"], row["code"], row["path"]) == (403, "insufficient_scope", endpoint.path)
        assert (row["method"], row["key_id"]) == (endpoint.method, weak[endpoint.wrong_scope].id)
    for answer in wrong:
        row = rows[request_id(answer)]
        assert (row["status"], row["code"], row["method"]) == (405, "method_not_allowed", "PUT")
    assert (429, "rate_limited") in {(rows[request_id(a)]["status"], rows[request_id(a)]["code"]) for a in fast}
    assert len(rows) == len(refused) + len(wrong) + len(ENDPOINTS) * 2 * 5


async def test_a_wrong_method_names_the_path_that_it_was_tried_on(api: Api, tenant: Tenant) -> None:
    key = await tenant.key()
    async with api.client(key.text) as client:
        answers = {path: await client.put(path) for path in ("/scan", "/events", f"/events/{uuid4()}")}
    rows = await written(tenant, list(answers.values()))
    assert [rows[request_id(answer)]["path"] for answer in answers.values()] == ["/scan", "/events", "/events/{id}"]


async def test_a_read_has_its_row_within_a_second(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    took: list[float] = []
    for _ in range(3):
        answer, began = await client.get("/events"), time.monotonic()
        await written(tenant, [answer])
        took.append(time.monotonic() - began)
    if NIGHT:
        assert max(took) < 1.0


async def test_what_a_row_never_holds(api: Api, tenant: Tenant) -> None:
    key = await tenant.key()
    secrets = [key.text, key.text[10:40], "a secret", FORGED, FORGED.rpartition(".")[2]]
    async with api.client(key.text) as client:
        for asked in await live_calls(tenant):
            await client.request(asked.method, asked.path, **asked.options)
            shown = {**asked.options.get("json", {}), **asked.options.get("params", {})}
            secrets += [shown["token"], shown["token"].rpartition(".")[2]] if "token" in shown else []
        last = await client.get(f"/{key.text}/{secrets[-2]}", params={"key": key.text})
    await written(tenant, [last])
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT a::text FROM logged_call a WHERE organization_id = $1", tenant.id)
    text = "\n".join(row[0] for row in rows)
    assert str(key.id) in text
    assert [secret for secret in secrets if secret in text] == []


async def test_an_unknown_key_leaves_no_row_but_is_counted(api: Api, tenant: Tenant) -> None:
    unknown = keys.make_key(Mode.LIVE, "a")
    counter = "gatepass_failed_authentications_total"
    before = api.state.metrics.registry.get_sample_value(counter) or 0
    for n, text in enumerate((unknown, unknown[:-1], unknown + "x", "svc_live_", "", "x" * 500)):
        async with Api(api.app, f"10.4.0.{n}").client() as client:  # more failures than one address may have
            for endpoint in ENDPOINTS:
                answer = await endpoint.call(client, headers={"Authorization": f"Bearer {text}"})
                assert answer.status_code == 401
                async with tenant.db.autocommit() as tx:
                    assert await tx.value("SELECT count(*) FROM logged_call WHERE id = $1", request_id(answer)) == 0
    assert api.state.metrics.registry.get_sample_value(counter) == before + 6 * len(ENDPOINTS)


async def test_failures_are_limited_by_address(api: Api, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty a minute without a known key; then 429. A revoked key always gets 401 and its row."""
    now = 1_000.0
    monkeypatch.setattr(api.state, "monotonic", lambda: now)
    good, dead = await tenant.key(), await tenant.key()
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, dead.id, by=factory.BY, at=factory.now())
    async with api.client(dead.text) as revoked, api.client(good.text) as valid, api.client() as nobody:
        unknown = [await (SCAN.call(nobody) if n % 2 else nobody.get("/events")) for n in range(60)]
        assert {answer.status_code for answer in unknown} == {401}
        for answer in (await nobody.get("/events"), await SCAN.call(nobody)):
            assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
            assert int(answer.headers["Retry-After"]) >= 1
        refused = [await (SCAN.call(revoked) if n % 2 else revoked.get("/events")) for n in range(70)]
        assert {answer.status_code for answer in refused} == {401}
        fine = [await valid.get("/events") for _ in range(5)]
        assert {answer.status_code for answer in fine} == {200}
        now += 1
        assert [(await nobody.get("/events")).status_code for _ in range(2)] == [401, 429]
        async with Api(api.app, "10.3.0.1").client() as elsewhere:
            assert (await elsewhere.get("/events")).status_code == 401
    rows = await written(tenant, [*refused, *fine])
    assert len(rows) == 70 + 5
    assert {rows[request_id(answer)]["code"] for answer in refused} == {"invalid_key"}
    assert {rows[request_id(answer)]["key_id"] for answer in refused} == {dead.id}
