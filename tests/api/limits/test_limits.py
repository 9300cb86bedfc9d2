"""Rate limits: in the headers of every answer to a valid key, and separate for reads and scans. The clock is fixed."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from gatepass.domain import keys
from gatepass.domain.keys import Mode, Scope
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.api.endpoints import ALL, ENDPOINTS, SCAN, Endpoint
from tests.factory import Tenant
from tests.processes import GatepassProcess

LIMIT = re.compile(r'"(default|scan|journal)";r=(\d+);t=(\d+)')
# Uploads of journals have a rate of their own, whatever the key's is.
UPLOAD = "POST /scans/batch"
OF_THE_KEY = [endpoint for endpoint in ALL if str(endpoint) != UPLOAD]


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(api: Api, monkeypatch: pytest.MonkeyPatch) -> Clock:
    standing_still = Clock()
    monkeypatch.setattr(api.state, "monotonic", standing_still)
    return standing_still


@asynccontextmanager
async def limited(
    api: Api, tenant: Tenant, rate: int | None, burst: int | None, *scopes: Scope, mode: Mode = Mode.LIVE
) -> AsyncGenerator[httpx2.AsyncClient]:
    async with tenant.db.transaction() as tx:
        key = await keys.issue(
            tx,
            tenant.id,
            "limited",
            mode,
            scopes or [Scope.ADMIN],
            cell="a",
            by=factory.BY,
            at=factory.now(),
            rate_per_second=rate,
            burst=burst,
        )
    async with api.client(key.text) as client:
        yield client


def left(answer: httpx2.Response) -> int:
    found = LIMIT.fullmatch(answer.headers["RateLimit"])
    assert found is not None, answer.headers["RateLimit"]
    return int(found[2])


def policy(answer: httpx2.Response) -> str:
    return answer.headers["RateLimit-Policy"]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("endpoint", OF_THE_KEY, ids=str)
async def test_every_answer_to_a_valid_key_tells_the_limit(
    api: Api, tenant: Tenant, endpoint: Endpoint, mode: Mode
) -> None:
    async with limited(api, tenant, 5, 7, mode=mode) as client:
        answers = [await endpoint.call(client) for _ in range(9)]
    assert [left(answer) for answer in answers] == [6, 5, 4, 3, 2, 1, 0, 0, 0]
    name = "scan" if endpoint == SCAN else "default"
    assert {policy(answer) for answer in answers} == {f'"{name}";q=7;w=2'}
    assert 429 not in {answer.status_code for answer in answers[:7]}
    for answer in answers[7:]:
        assert_error(answer, 429, "rate_limited")
        assert answer.headers["Retry-After"] == "1"


REFUSED: dict[int, tuple[str, str, dict[str, Any]]] = {
    400: ("POST", "/scan", {"content": b"{"}),
    404: ("GET", "/events/nowhere", {}),
    405: ("PUT", "/scan", {}),
    413: ("POST", "/scan", {"content": b" " * 20_000}),
}


@pytest.mark.parametrize("status", REFUSED)
async def test_a_refused_call_tells_the_limit_and_counts(api: Api, tenant: Tenant, status: int) -> None:
    method, path, options = REFUSED[status]
    async with limited(api, tenant, 5, 7) as client:
        answers = [await client.request(method, path, **options) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [status, status]
    assert [left(answer) for answer in answers] == [6, 5]


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str)
async def test_a_key_without_the_scope_is_told_its_limit_too(api: Api, tenant: Tenant, endpoint: Endpoint) -> None:
    async with limited(api, tenant, 5, 7, endpoint.wrong_scope) as client:
        answer = await endpoint.call(client)
    assert_error(answer, 403, "insufficient_scope")
    assert left(answer) == (19 if str(endpoint) == UPLOAD else 6)


async def test_a_key_that_is_not_valid_is_told_nothing(api: Api) -> None:
    async with api.client("svc_live_nonsense") as client:
        for endpoint in ALL:
            answer = await endpoint.call(client)
            assert answer.status_code == 401
            assert not {"RateLimit", "RateLimit-Policy"} & answer.headers.keys()


async def test_reads_never_starve_a_gate(api: Api, tenant: Tenant) -> None:
    card = await tenant.card()
    async with limited(api, tenant, 1, 2) as client:
        assert [(await client.get("/events")).status_code for _ in range(3)] == [200, 200, 429]
        assert (await client.post("/scan", json=scan_body(tenant, card.number))).status_code == 200
        assert (await client.post("/scan", json=scan_body(tenant, card.number))).status_code == 409
        assert (await client.post("/scan", json=scan_body(tenant, card.number))).status_code == 429


async def test_a_bucket_fills_again(api: Api, tenant: Tenant, clock: Clock) -> None:
    async with limited(api, tenant, 2, 4) as client:
        assert [(await client.get("/events")).status_code for _ in range(5)] == [200] * 4 + [429]
        clock.now += 0.5
        assert [(await client.get("/events")).status_code for _ in range(2)] == [200, 429]
        clock.now += 3600
        assert [(await client.get("/events")).status_code for _ in range(5)] == [200] * 4 + [429]


async def test_retry_after_is_when_it_works_again(api: Api, tenant: Tenant, clock: Clock) -> None:
    async with limited(api, tenant, 1, 1) as client:
        assert (await client.get("/events")).status_code == 200
        refused = await client.get("/events")
        assert_error(refused, 429, "rate_limited")
        clock.now += int(refused.headers["Retry-After"])
        assert (await client.get("/events")).status_code == 200


@pytest.mark.parametrize(("mode", "rate", "burst"), [(Mode.LIVE, 100, 200), (Mode.SANDBOX, 25, 50)])
async def test_what_a_key_may_do_unless_told_otherwise(
    api: Api, tenant: Tenant, clock: Clock, mode: Mode, rate: int, burst: int
) -> None:
    async with limited(api, tenant, None, None, mode=mode) as client:
        answers = [await client.get("/card/keys") for _ in range(burst + 1)]
        assert [answer.status_code for answer in answers] == [200] * burst + [429]
        assert policy(answers[0]) == f'"default";q={burst};w=2'
        clock.now += 1
        assert (await client.get("/card/keys")).headers["RateLimit"] == f'"default";r={rate - 1};t=2'
        scanned = await SCAN.call(client)
        assert policy(scanned) == f'"scan";q={burst};w=2'


async def test_keys_do_not_share_a_bucket(api: Api, tenant: Tenant) -> None:
    async with limited(api, tenant, 1, 1) as one, limited(api, tenant, 1, 1) as other:
        assert [(await one.get("/events")).status_code for _ in range(2)] == [200, 429]
        assert (await other.get("/events")).status_code == 200


@pytest.mark.processes
async def test_a_real_process_limits_too(server: GatepassProcess, tenant: Tenant) -> None:
    key = await tenant.key(rate=2)
    async with server.client(key.text) as client:
        answers = [await client.get("/events") for _ in range(8)]
    assert 200 in {answer.status_code for answer in answers}
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert_error(refused[0], 429, "rate_limited")
    assert left(refused[0]) == 0
