"""Shared rate limits: four real processes with a real server."""

import asyncio
import time
from bisect import bisect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any
from urllib.request import urlopen
from uuid import UUID

import httpx2
import pytest

from gatepass.domain.limits import Policy
from tests.api.limits.test_limits import left
from tests.api.limits.test_shared_limits import until
from tests.factory import Tenant
from tests.postgres import free_port
from tests.processes import GatepassProcess, wait_until_ready
from tests.size import NIGHT
from tests.valkey import PASSWORD, Valkey
from tests.warm.processes import launch

pytestmark = pytest.mark.processes

Whose = tuple[UUID, str]
FAST = Policy("default", 100, 200)
# It refills so slowly that nothing comes back during a test.
STILL = Policy("default", 0.001, 50)


@pytest.fixture(scope="module")
def four(valkey: Valkey, settings_env: dict[str, str]) -> Generator[list[GatepassProcess]]:
    """Four real processes that share their limits."""
    ports = [free_port() for _ in range(8)]
    environment = {**settings_env, "GATEPASS_VALKEY_URL": valkey.url, "GATEPASS_DATABASE_CONNECTIONS": "4"}
    launched = [
        launch({**environment, "GATEPASS_METRICS_PORT": str(metrics)}, port)
        for port, metrics in zip(ports[:4], ports[4:], strict=True)
    ]
    for server in launched:
        wait_until_ready(server)
    yield launched
    for server in launched:
        server.stop()


def shares(server: GatepassProcess) -> bool:
    with urlopen(f"http://127.0.0.1:{server.metrics_port}/metrics", timeout=5) as page:
        return b"gatepass_limits_shared 1.0" in page.read().splitlines()


@dataclass
class Caller:
    """A client with one key and many connections, which records the result of each call."""

    key: str
    policy: Policy
    clients: list[httpx2.AsyncClient]
    let_in: list[list[float]] = field(default_factory=lambda: [[], [], [], []])
    refused: int = 0
    others: list[int] = field(default_factory=list[int])

    async def call(self, process: int) -> httpx2.Response:
        answer = await self.clients[process].get("/events", headers={"Authorization": f"Bearer {self.key}"})
        if answer.status_code == 200:
            self.let_in[process].append(time.monotonic())
        elif answer.status_code == 429:
            self.refused += 1
            assert (left(answer), int(answer.headers["Retry-After"]) <= 3) == (0, True)
        else:
            self.others.append(answer.status_code)
        return answer

    async def hammer(self, processes: list[int], seconds: float, connections: int = 5) -> None:
        """Keep `connections` calls in flight on each of these processes: on four, at six times the rate."""
        end, pause = time.monotonic() + seconds, 4 * connections / (6 * self.policy.per_second)

        async def keep_calling(process: int) -> None:
            while time.monotonic() < end:
                due = time.monotonic() + pause
                await self.call(process)
                await asyncio.sleep(due - time.monotonic())

        await asyncio.gather(*[keep_calling(process) for process in processes for _ in range(connections)])

    async def keep_to_the_rate(self, processes: list[int], seconds: float) -> None:
        """One call after the other, at nine tenths of the rate."""
        due = time.monotonic()
        end = due + seconds
        for process in cycle(processes):
            if due > end:
                return
            await asyncio.sleep(due - time.monotonic())
            await self.call(process)
            due += 1 / (0.9 * self.policy.per_second)

    def since(self, start: float) -> list[float]:
        return sorted(at for times in self.let_in for at in times if at >= start)

    def most_in_ten_seconds(self) -> int:
        times = self.since(0)
        return max(bisect(times, at + 10) - first for first, at in enumerate(times))

    def debt(self, start: float) -> float:
        """How far one exact bucket for all processes, full at the start, would have gone below zero."""
        level, last, debt = float(self.policy.burst), start, 0.0
        for at in self.since(start):
            level = min(self.policy.burst, level + (at - last) * self.policy.per_second) - 1
            last, debt = at, max(debt, -level)
        return debt


Callers = Callable[..., Any]


@pytest.fixture
async def callers(four: list[GatepassProcess], tenant: Tenant) -> AsyncGenerator[Callers]:
    for server in four:
        await until(lambda server=server: shares(server))
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(server.client()) for server in four]

        async def caller(rate: int) -> Caller:
            key = await tenant.key(rate=rate)
            return Caller(key.text, Policy("default", rate, 2 * rate), clients)

        yield caller


@pytest.mark.nightly
async def test_four_processes_keep_the_promise(callers: Callers) -> None:
    busy, resting, slow = await callers(10), await callers(10), await callers(2)

    async def rest_and_come_back() -> None:
        await resting.hammer([0, 1, 2, 3], 4)
        await asyncio.sleep(2.5)
        await resting.hammer([0, 1, 2, 3], 7)

    async def surprise_the_others() -> None:
        await slow.hammer([0], 11, connections=1)
        await slow.hammer([0, 1, 2, 3], 3)

    await asyncio.gather(busy.hammer([0, 1, 2, 3], 14), rest_and_come_back(), surprise_the_others())
    for caller in (busy, resting, slow):
        rate, burst, most = caller.policy.per_second, caller.policy.burst, caller.most_in_ten_seconds()
        print(f"{rate}/s: {most} in ten seconds, {11 * rate + burst} promised; {caller.refused} refused")
        assert 9 * rate + burst <= most <= 11 * rate + burst
        assert caller.refused > 10 * rate
        assert caller.others == []


@pytest.mark.nightly
async def test_who_keeps_to_the_rate_is_never_refused(callers: Callers) -> None:
    spread, single, slow = await callers(20), await callers(20), await callers(2)
    await asyncio.gather(
        spread.keep_to_the_rate([0, 1, 2, 3], 6),
        single.keep_to_the_rate([2], 6),
        slow.keep_to_the_rate([3, 1, 0, 2], 6),
    )
    for caller in (spread, single, slow):
        assert (caller.refused, caller.others) == (0, [])
        assert len(caller.since(0)) > 5 * caller.policy.per_second


async def test_who_waits_as_long_as_told_is_let_in(callers: Callers) -> None:
    caller = await callers(2)
    for process in (0, 1):
        while (answer := await caller.call(process)).status_code == 200:
            pass
        await asyncio.sleep(int(answer.headers["Retry-After"]))
        assert (await caller.call(process)).status_code == 200


async def test_the_api_goes_on_without_the_server_and_shares_again_with_it(
    callers: Callers, four: list[GatepassProcess], valkey: Valkey
) -> None:
    caller = await callers(10)
    calling = asyncio.create_task(caller.hammer([0, 1, 2, 3], float("inf")))
    await until(lambda: caller.refused > 20)

    valkey.kill()
    await until(lambda: not any(map(shares, four)))
    alone = time.monotonic()
    await until(lambda: len(caller.since(alone)) > 80)
    took = time.monotonic() - alone
    for times in caller.let_in:
        assert len([at for at in times if at > alone]) <= caller.policy.burst + took * caller.policy.per_second
    if NIGHT:
        assert len(caller.since(alone)) > caller.policy.burst + took * caller.policy.per_second

    valkey.start()
    await until(lambda: all(map(shares, four)))
    again = time.monotonic()
    await until(lambda: len(caller.since(again)) > 40)
    calling.cancel()
    await asyncio.wait([calling])
    print(f"an exact bucket would be in debt by {caller.debt(again):.1f}, {len(caller.since(again))} let in again")
    if NIGHT:
        assert caller.debt(again) <= caller.policy.per_second
    assert caller.others == []
    printed = "".join(line for server in four for line in server.lines)
    assert printed.count("rate limits are not shared") >= 4
    assert PASSWORD not in printed
