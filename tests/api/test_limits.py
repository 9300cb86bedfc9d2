"""Rate limits: told on every answer to a valid key, and kept apart for reads and scans. The clock stands still."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from gatepass.domain import keys
from gatepass.domain.keys import Mode, Scope
from tests import make
from tests.api.conftest import Door, assert_error, scan_body
from tests.api.endpoints import ALL, ENDPOINTS, SCAN, Endpoint
from tests.make import House
from tests.serving import Serving

LIMIT = re.compile(r'"(default|scan)";r=(\d+);t=(\d+)')


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(door: Door, monkeypatch: pytest.MonkeyPatch) -> Clock:
    standing_still = Clock()
    monkeypatch.setattr(door.house, "monotonic", standing_still)
    return standing_still


@asynccontextmanager
async def limited(
    door: Door, house: House, rate: int | None, burst: int | None, *scopes: Scope, mode: Mode = Mode.LIVE
) -> AsyncGenerator[httpx2.AsyncClient]:
    async with house.db.transaction() as tx:
        key = await keys.issue(
            tx,
            house.id,
            "limited",
            mode,
            scopes or [Scope.ADMIN],
            cell="a",
            by=make.BY,
            at=make.now(),
            rate_per_second=rate,
            burst=burst,
        )
    async with door.client(key.text) as client:
        yield client


def left(answer: httpx2.Response) -> int:
    found = LIMIT.fullmatch(answer.headers["RateLimit"])
    assert found is not None, answer.headers["RateLimit"]
    return int(found[2])


def policy(answer: httpx2.Response) -> str:
    return answer.headers["RateLimit-Policy"]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("endpoint", ALL, ids=str)
async def test_every_answer_to_a_valid_key_tells_the_limit(
    door: Door, house: House, endpoint: Endpoint, mode: Mode
) -> None:
    async with limited(door, house, 5, 7, mode=mode) as client:
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
async def test_a_refused_call_tells_the_limit_and_counts(door: Door, house: House, status: int) -> None:
    method, path, options = REFUSED[status]
    async with limited(door, house, 5, 7) as client:
        answers = [await client.request(method, path, **options) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [status, status]
    assert [left(answer) for answer in answers] == [6, 5]


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str)
async def test_a_key_without_the_scope_is_told_its_limit_too(door: Door, house: House, endpoint: Endpoint) -> None:
    async with limited(door, house, 5, 7, endpoint.wrong_scope) as client:
        answer = await endpoint.call(client)
    assert_error(answer, 403, "insufficient_scope")
    assert left(answer) == 6


async def test_a_key_that_is_not_valid_is_told_nothing(door: Door) -> None:
    async with door.client("svc_live_nonsense") as client:
        for endpoint in ALL:
            answer = await endpoint.call(client)
            assert answer.status_code == 401
            assert not {"RateLimit", "RateLimit-Policy"} & answer.headers.keys()


async def test_reads_never_starve_a_gate(door: Door, house: House) -> None:
    card = await house.card()
    async with limited(door, house, 1, 2) as client:
        assert [(await client.get("/events")).status_code for _ in range(3)] == [200, 200, 429]
        assert (await client.post("/scan", json=scan_body(house, card.number))).status_code == 200
        assert (await client.post("/scan", json=scan_body(house, card.number))).status_code == 409
        assert (await client.post("/scan", json=scan_body(house, card.number))).status_code == 429


async def test_a_bucket_fills_again(door: Door, house: House, clock: Clock) -> None:
    async with limited(door, house, 2, 4) as client:
        assert [(await client.get("/events")).status_code for _ in range(5)] == [200] * 4 + [429]
        clock.now += 0.5
        assert [(await client.get("/events")).status_code for _ in range(2)] == [200, 429]
        clock.now += 3600
        assert [(await client.get("/events")).status_code for _ in range(5)] == [200] * 4 + [429]


async def test_retry_after_is_when_it_works_again(door: Door, house: House, clock: Clock) -> None:
    async with limited(door, house, 1, 1) as client:
        assert (await client.get("/events")).status_code == 200
        refused = await client.get("/events")
        assert_error(refused, 429, "rate_limited")
        clock.now += int(refused.headers["Retry-After"])
        assert (await client.get("/events")).status_code == 200


@pytest.mark.parametrize(("mode", "rate", "burst"), [(Mode.LIVE, 100, 200), (Mode.SANDBOX, 25, 50)])
async def test_what_a_key_may_do_unless_told_otherwise(
    door: Door, house: House, clock: Clock, mode: Mode, rate: int, burst: int
) -> None:
    async with limited(door, house, None, None, mode=mode) as client:
        answers = [await client.get("/card/keys") for _ in range(burst + 1)]
        assert [answer.status_code for answer in answers] == [200] * burst + [429]
        assert policy(answers[0]) == f'"default";q={burst};w=2'
        clock.now += 1
        assert (await client.get("/card/keys")).headers["RateLimit"] == f'"default";r={rate - 1};t=2'
        scanned = await SCAN.call(client)
        assert policy(scanned) == f'"scan";q={burst};w=2'


async def test_keys_do_not_share_a_bucket(door: Door, house: House) -> None:
    async with limited(door, house, 1, 1) as one, limited(door, house, 1, 1) as other:
        assert [(await one.get("/events")).status_code for _ in range(2)] == [200, 429]
        assert (await other.get("/events")).status_code == 200


async def test_a_real_process_limits_too(serving: Serving, house: House) -> None:
    key = await house.key(rate=2)
    async with serving.client(key.text) as client:
        answers = [await client.get("/events") for _ in range(8)]
    assert 200 in {answer.status_code for answer in answers}
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert_error(refused[0], 429, "rate_limited")
    assert left(refused[0]) == 0
