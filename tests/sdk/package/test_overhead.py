"""The overhead of the SDK over a bare call: retries, deadlines, a key and a typed answer cost time."""

import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from gatepass_sdk import SANDBOX_EVENT_ID, AsyncGatepass, Gatepass
from tests.sdk.stack import Stack

pytestmark = [pytest.mark.alone, pytest.mark.nightly]

ROUNDS = 40
CALLS = 20
AT_MOST = 1.30
SCAN: dict[str, Any] = {"card_number": "TEST_VALID", "gate": "North 2", "scanner_id": "scanner-7"}


def test_a_scan_costs_little_more_than_a_bare_post(large_stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    with httpx2.Client() as http, Gatepass(large_stack.key("sandbox"), base_url=large_stack.base_url) as client:

        def bare() -> None:
            answer = http.post(
                f"{large_stack.base_url}/scan",
                json={"event_id": SANDBOX_EVENT_ID, **SCAN},
                headers=headers(large_stack),
            )
            assert answer.json()["data"]["tier"] == "standard"

        def scan() -> None:
            assert client.scans.create(SANDBOX_EVENT_ID, **SCAN).tier == "standard"

        def microseconds(call: Callable[[], None]) -> float:
            began = time.perf_counter()
            for _ in range(CALLS):
                call()
            return (time.perf_counter() - began) / CALLS * 1e6

        rounds = [(microseconds(bare), microseconds(scan)) for _ in range(ROUNDS + 1)]
    check_ratio("sync", rounds[1:], capsys)


async def test_an_awaited_scan_costs_little_more_than_a_bare_post(
    large_stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    async with (
        httpx2.AsyncClient() as http,
        AsyncGatepass(large_stack.key("sandbox"), base_url=large_stack.base_url) as client,
    ):

        async def bare() -> None:
            body = {"event_id": SANDBOX_EVENT_ID, **SCAN}
            answer = await http.post(f"{large_stack.base_url}/scan", json=body, headers=headers(large_stack))
            assert answer.json()["data"]["tier"] == "standard"

        async def scan() -> None:
            assert (await client.scans.create(SANDBOX_EVENT_ID, **SCAN)).tier == "standard"

        async def microseconds(call: Callable[[], Awaitable[None]]) -> float:
            began = time.perf_counter()
            for _ in range(CALLS):
                await call()
            return (time.perf_counter() - began) / CALLS * 1e6

        rounds = [(await microseconds(bare), await microseconds(scan)) for _ in range(ROUNDS + 1)]
    check_ratio("async", rounds[1:], capsys)


def headers(large_stack: Stack) -> dict[str, str]:
    return {"Authorization": f"Bearer {large_stack.key('sandbox')}", "Idempotency-Key": str(uuid4())}


def check_ratio(kind: str, rounds: list[tuple[float, float]], capsys: pytest.CaptureFixture[str]) -> None:
    """Compare the medians. The first round was left out, because it opens the connections."""
    bare, scan = (statistics.median(one) for one in zip(*rounds, strict=True))
    ratio = statistics.median(scan / bare for bare, scan in rounds)
    with capsys.disabled():
        print(
            f"\n\n{kind}: a bare post {bare:.0f} µs, scans.create {scan:.0f} µs, ratio {ratio:.2f}, at most {AT_MOST}"
        )
    assert ratio <= AT_MOST
