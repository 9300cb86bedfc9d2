"""Idempotency-Key of a POST: done once, told again; what is refused is kept too, and nothing of it stays behind."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Annotated, Any

import httpx2
import pytest
from fastapi import APIRouter, Response

from gatepass.api.app import ApiState, routes
from gatepass.api.middleware import Middleware
from gatepass.api.once import Kept, once
from gatepass.api.write import Write, writes
from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest
from gatepass.base.settings import BASE_PATH
from gatepass.domain import cards
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.tickets import SoldOut
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.api.test_idempotency import assert_replay
from tests.factory import Tenant

NUMBER = "SELECT number FROM card WHERE organization_id = $1 AND id = $2"
CARDS = "SELECT count(*) FROM card WHERE organization_id = $1"
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
KEPT = "SELECT verdict, kept FROM idempotency WHERE organization_id = $1"
router = APIRouter()


@router.post("/made-for-tests/{name}")
async def make(write: Annotated[Write, writes(Scope.ADMIN)], name: str) -> Response:
    """Issue a card, show a token of it, and fail in the way that the body asks for."""
    raw = await write.request.body()
    wanted: dict[str, Any] = json.loads(raw) if raw else {}
    organization_id = write.caller.organization_id

    async def issue(tx: Tx) -> Kept:
        card = await cards.issue(tx, organization_id, by=write.by, at=write.at)
        match wanted.get("fails"):
            case "sold_out":
                raise SoldOut
            case "invalid":
                raise InvalidRequest("It is not valid.", param="fails")
            case "broken":
                raise RuntimeError("broken on purpose")
            case "lost":
                await tx.run("SELECT pg_terminate_backend(pg_backend_pid())")
            case "slow":
                await tx.run("SELECT FROM event WHERE id = $1 FOR UPDATE", name)
            case _:
                pass
        return Kept(201, id=card.id, facts={"until": "2030-01-01T00:00:00Z"})

    async def show(tx: Tx, kept: Kept) -> dict[str, str]:
        found = await tx.value(NUMBER, organization_id, kept.id)
        return {"id": str(kept.id), "token": f"a secret for {found} until {kept.facts['until']}"}

    return await once(write, raw, issue, show)


@pytest.fixture(scope="module")
async def app(database_url: str) -> AsyncGenerator[Middleware]:
    settings = factory.settings(database_url, database_connections=8)
    state = ApiState(settings)
    inner = routes(state)
    inner.include_router(router, prefix=BASE_PATH)
    state.open()
    yield Middleware(inner, state)
    await state.close()


async def post(
    client: httpx2.AsyncClient, key: str | None, body: bytes | dict[str, Any] | None = None, *, name: str = "a"
) -> httpx2.Response:
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    headers = {} if key is None else {"Idempotency-Key": key}
    return await client.post(f"/made-for-tests/{name}", content=content, headers=headers)


async def counted(tenant: Tenant) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value(CARDS, tenant.id)


async def test_a_retry_gets_the_answer_again(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    first = await post(client, "k")
    assert first.status_code == 201
    assert_replay(await post(client, "k"), first)
    assert await counted(tenant) == 1
    assert (await post(client, "another")).json() != first.json()
    assert (await post(client, None)).json() != (await post(client, None)).json()
    assert await counted(tenant) == 4


async def test_no_token_is_kept(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    first = await post(client, "k")
    async with tenant.db.autocommit() as tx:
        ((verdict, kept),) = await tx.rows(KEPT, tenant.id)
    assert verdict == "answered"
    assert json.loads(kept) == {
        "status": 201, "id": first.json()["data"]["id"], "facts": {"until": "2030-01-01T00:00:00Z"},
    }  # fmt: skip


async def test_a_refusal_is_kept_and_what_it_did_is_not(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    first = await post(client, "k", {"fails": "sold_out"})
    assert_error(first, 409, "sold_out")
    assert_replay(await post(client, "k", {"fails": "sold_out"}), first)
    assert await counted(tenant) == 0
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT status, code FROM logged_call WHERE organization_id = $1", tenant.id)
    assert [tuple(row) for row in rows] == [(409, "sold_out")] * 2


@pytest.mark.parametrize(("fails", "status"), [("invalid", 400), ("broken", 500), ("lost", 503)])
async def test_other_failures_leave_the_key_free(
    client: httpx2.AsyncClient, tenant: Tenant, fails: str, status: int
) -> None:
    """Of `lost`, PostgreSQL ended the session in the middle of the transaction: nothing of it is there."""
    assert (await post(client, "k", {"fails": fails})).status_code == status
    assert await counted(tenant) == 0
    after = await post(client, "k")
    assert (after.status_code, after.headers.get("Idempotent-Replayed")) == (201, None)
    assert await counted(tenant) == 1


async def test_a_retry_may_be_spelled_differently(client: httpx2.AsyncClient) -> None:
    first = await post(client, "k", {"a": 1, "b": {"c": [1, 2], "d": "é"}})
    again = await post(client, "k", b'{ "b": {"d": "\\u00e9", "c": [1, 2]},\n "a": 1 }')
    assert_replay(again, first)


@pytest.mark.parametrize(
    ("name", "body"),
    [("b", {"a": 1}), ("a", {"a": 2}), ("a", {"a": 1, "b": None}), ("a", {"a": [1]}), ("a", None), ("a", {"a": "1"})],
)
async def test_a_retry_may_not_ask_for_something_else(
    client: httpx2.AsyncClient, tenant: Tenant, name: str, body: dict[str, Any] | None
) -> None:
    assert (await post(client, "k", {"a": 1})).status_code == 201
    answer = await post(client, "k", body, name=name)
    assert_error(answer, 422, "idempotency_key_reused")
    assert "Idempotent-Replayed" not in answer.headers
    assert await counted(tenant) == 1


async def test_a_key_of_a_scan_and_one_of_another_call_are_of_one_kind(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    shown = scan_body(tenant, (await tenant.card()).number)
    first = await client.post("/scan", json=shown, headers={"Idempotency-Key": "scan"})
    assert first.status_code == 200
    assert_error(await post(client, "scan", shown), 422, "idempotency_key_reused")
    assert (await post(client, "other", shown)).status_code == 201
    answer = await client.post("/scan", json=shown, headers={"Idempotency-Key": "other"})
    assert_error(answer, 422, "idempotency_key_reused")
    assert_replay(await client.post("/scan", json=shown, headers={"Idempotency-Key": "scan"}), first)


async def test_a_key_belongs_to_one_organization_and_mode(api: Api, tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    keys = [await tenant.key(), await other.key(), await tenant.key(mode=Mode.SANDBOX)]
    answers = []
    for key in keys:
        async with api.client(key.text) as client:
            answers.append(await post(client, "the same everywhere"))
    assert [answer.status_code for answer in answers] == [201] * 3
    assert not any("Idempotent-Replayed" in answer.headers for answer in answers)


async def test_a_key_has_up_to_255_characters(client: httpx2.AsyncClient) -> None:
    for key in ("", "k" * 256):
        assert_error(await post(client, key), 400, "invalid_request", param="Idempotency-Key")
    assert (await post(client, "k" * 255)).status_code == 201


async def test_two_at_once_get_one_answer(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    for n in range(10):
        body = {"fails": "sold_out"} if n % 2 else {}
        answers = await asyncio.gather(*(post(client, f"twins {n}", body) for _ in range(6)))
        assert len({(answer.status_code, answer.content) for answer in answers}) == 1
        assert sorted(answer.headers.get("Idempotent-Replayed", "") for answer in answers) == ["", *["true"] * 5]
    assert await counted(tenant) == 5


async def test_an_answer_is_kept_through_a_rotation_and_forgotten_after_two(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    first = await post(client, "k")
    await _rotate(tenant)
    assert_replay(await post(client, "k"), first)
    await _rotate(tenant)
    assert "Idempotent-Replayed" not in (await post(client, "k")).headers


async def _rotate(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("SELECT empty_next_generation()")
        assert await tx.value("SELECT open_next_generation(now(), now())")


async def test_changes_hold_a_quarter_of_the_connections_and_scans_go_on(
    api: Api, client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    """Of eight connections two are for changes. While both wait, a third change is refused, and no scan is."""
    shown = [scan_body(tenant, (await tenant.card()).number) for _ in range(20)]
    async with tenant.db.transaction() as tx:
        await tx.run("SELECT FROM event WHERE id = $1 FOR UPDATE", tenant.event_id)
        stuck = [
            asyncio.create_task(post(client, None, {"fails": "slow"}, name=str(tenant.event_id))) for _ in range(2)
        ]
        await _until_waiting(tenant, 2)
        assert_error(await post(client, None), 503, "overloaded")
        scans = await asyncio.gather(*(client.post("/scan", json=body) for body in shown))
        assert [answer.status_code for answer in scans] == [200] * 20
    assert [answer.status_code for answer in await asyncio.gather(*stuck)] == [201] * 2
    assert (await post(client, None)).status_code == 201


async def _until_waiting(tenant: Tenant, sessions: int) -> None:
    """Until so many sessions of this database wait for a lock."""
    async with tenant.db.autocommit() as tx:
        while await tx.value(WAITING) < sessions:
            pass


async def test_a_second_call_waits_two_seconds_for_the_first(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """Then it is told to come back, and gets the answer later."""
    async with tenant.db.transaction() as tx:
        await tx.run("SELECT FROM event WHERE id = $1 FOR UPDATE", tenant.event_id)
        body, name = {"fails": "slow"}, str(tenant.event_id)
        first = asyncio.create_task(post(client, "k", body, name=name))
        await _until_waiting(tenant, 1)
        second = await post(client, "k", body, name=name)
        assert_error(second, 503, "unavailable")
        assert second.elapsed >= timedelta(seconds=1.9)
    assert_replay(await post(client, "k", body, name=name), await first)
    assert await counted(tenant) == 1
