"""Rate limits that processes share: first the background task with a real server, then four real processes."""

import asyncio
import time
from bisect import bisect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from signal import SIGCONT, SIGSTOP
from typing import Any
from urllib.request import urlopen
from uuid import UUID, uuid4

import httpx2
import pytest
from redis import Redis

from gatepass.api.metrics import Metrics
from gatepass.api.sharing import BATCH, SharedLimits
from gatepass.domain.limits import Buckets, Policy
from tests.api.test_limits import left
from tests.make import House
from tests.postgres import free_port
from tests.serving import Serving, launch, wait_until_ready
from tests.valkey import PASSWORD, Valkey

Whose = tuple[UUID, str]
FAST = Policy("default", 100, 200)
# What is taken from this one is not made good while a test looks.
STILL = Policy("default", 0.001, 50)


@pytest.fixture(scope="module")
def valkey() -> Generator[Valkey]:
    started = Valkey()
    yield started
    started.kill()


@pytest.fixture
def whose() -> Whose:
    return uuid4(), "default"


@dataclass
class Process:
    """What one process has of its own."""

    buckets: Buckets = field(default_factory=Buckets)
    metrics: Metrics = field(default_factory=Metrics)

    def take(self, whose: Whose, policy: Policy, count: int = 1) -> int:
        """How many of so many calls are let in."""
        return sum(self.buckets.take(whose, policy, time.monotonic()).allowed for _ in range(count))

    def is_shared(self) -> bool:
        return self.metrics.registry.get_sample_value("gatepass_limits_shared") == 1


@asynccontextmanager
async def process(url: str) -> AsyncGenerator[Process]:
    one = Process()
    limits = SharedLimits(url, one.buckets, one.metrics, time.monotonic)
    limits.open()
    try:
        yield one
    finally:
        await limits.close()


async def until(fact: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not fact():  # noqa: ASYNC110  another process makes it true
            await asyncio.sleep(0.005)


def looking(valkey: Valkey) -> Redis:
    return Redis.from_url(valkey.url, decode_responses=True, protocol=2)


def level(valkey: Valkey, whose: Whose) -> float | None:
    """What is left for all processes together; nothing is known of a bucket that is full."""
    with looking(valkey) as client:
        found: Any = client.hget(f"gatepass:limit:{whose[0]}:{whose[1]}", "level")
    return None if found is None else round(float(found), 1)


async def test_what_one_process_gave_another_does_not(valkey: Valkey, whose: Whose) -> None:
    async with process(valkey.url) as one, process(valkey.url) as other:
        given = 0
        while level(valkey, whose) != 0:
            given += one.take(whose, STILL)
            await asyncio.sleep(0)
        assert given == int(STILL.shared_burst()) == 47
        assert other.take(whose, STILL, 9) == 1
        await until(lambda: level(valkey, whose) == -1)
        assert other.take(whose, STILL, 9) == one.take(whose, STILL, 9) == 0


async def test_a_burst_on_one_process_is_not_held_up(valkey: Valkey, whose: Whose) -> None:
    async with process(valkey.url) as one:
        for _ in range(20):
            assert one.take(whose, FAST, 10) == 10
            await asyncio.sleep(0.01)


async def test_the_server_knows_ids_and_forgets_them(valkey: Valkey, whose: Whose) -> None:
    async with process(valkey.url) as one:
        one.take(whose, FAST, 20)
        await until(lambda: level(valkey, whose) is not None)
        with looking(valkey) as client:
            assert f"gatepass:limit:{whose[0]}:default" in list(client.scan_iter())
        await until(lambda: level(valkey, whose) is None)


async def test_many_buckets_are_told_at_once(valkey: Valkey) -> None:
    many = [(uuid4(), "scan") for _ in range(2 * BATCH + 1)]
    async with process(valkey.url) as one:
        assert all(one.take(whose, STILL) for whose in many)
        await until(lambda: level(valkey, many[-1]) is not None)
    assert {level(valkey, whose) for whose in many} == {46}


async def test_a_process_that_ends_tells_what_is_left(valkey: Valkey, whose: Whose) -> None:
    async with process(valkey.url) as one:
        await until(one.is_shared)
        one.take(whose, STILL)
    assert level(valkey, whose) == 46


async def test_what_may_have_been_heard_is_not_told_twice(valkey: Valkey, whose: Whose) -> None:
    async with process(valkey.url) as one:
        one.take(whose, STILL)
        await until(lambda: level(valkey, whose) == 46)
        valkey.process.send_signal(SIGSTOP)
        await until(lambda: one.take(whose, STILL) == 1)
        await until(lambda: not one.is_shared())
        assert one.take(whose, STILL, 9) == 9
        valkey.process.send_signal(SIGCONT)
        await until(one.is_shared)
        assert one.take(whose, STILL, 9) == 1
        await until(lambda: level(valkey, whose) == 44)


async def test_without_a_server_a_process_has_its_own_limits() -> None:
    async with process(f"redis://:{PASSWORD}@127.0.0.1:{free_port()}") as one:
        await until(lambda: one.take((uuid4(), "default"), STILL, 60) == 50)
        assert not one.is_shared()


@pytest.mark.parametrize("url", ["localhost", f"http://:{PASSWORD}@x", f"redis://x:{PASSWORD}/0"])
def test_a_url_that_is_none_is_not_quoted(url: str) -> None:
    with pytest.raises(ValueError, match="GATEPASS_VALKEY_URL") as refused:
        SharedLimits(url, Buckets(), Metrics(), time.monotonic)
    assert PASSWORD not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.fixture(scope="module")
def four(valkey: Valkey, settings_env: dict[str, str]) -> Generator[list[Serving]]:
    """Four real processes that share their limits."""
    ports = [free_port() for _ in range(8)]
    environment = {**settings_env, "GATEPASS_VALKEY_URL": valkey.url, "GATEPASS_DATABASE_CONNECTIONS": "4"}
    launched = [
        launch({**environment, "GATEPASS_METRICS_PORT": str(metrics)}, port)
        for port, metrics in zip(ports[:4], ports[4:], strict=True)
    ]
    for serving in launched:
        wait_until_ready(serving)
    yield launched
    for serving in launched:
        serving.stop()


def shares(serving: Serving) -> bool:
    with urlopen(f"http://127.0.0.1:{serving.metrics_port}/metrics", timeout=5) as page:
        return b"gatepass_limits_shared 1.0" in page.read().splitlines()


@dataclass
class Caller:
    """Somebody with one key and many connections, who notes what became of each call."""

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
        """So many calls at once on each of these processes, again and again: on four at six times the rate."""
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
        """By how much one exact bucket for all, full at the start, would have been overdrawn."""
        level, last, debt = float(self.policy.burst), start, 0.0
        for at in self.since(start):
            level = min(self.policy.burst, level + (at - last) * self.policy.per_second) - 1
            last, debt = at, max(debt, -level)
        return debt


Callers = Callable[..., Any]


@pytest.fixture
async def callers(four: list[Serving], house: House) -> AsyncGenerator[Callers]:
    for serving in four:
        await until(lambda serving=serving: shares(serving))
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(serving.client()) for serving in four]

        async def caller(rate: int) -> Caller:
            key = await house.key(rate=rate)
            return Caller(key.text, Policy("default", rate, 2 * rate), clients)

        yield caller


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
async def test_who_waits_as_long_as_told_is_let_in(callers: Callers) -> None:
    caller = await callers(2)
    for process in (0, 1):
        while (answer := await caller.call(process)).status_code == 200:
            pass
        await asyncio.sleep(int(answer.headers["Retry-After"]))
        assert (await caller.call(process)).status_code == 200


@pytest.mark.slow
async def test_the_api_goes_on_without_the_server_and_shares_again_with_it(
    callers: Callers, four: list[Serving], valkey: Valkey
) -> None:
    caller = await callers(10)
    calling = asyncio.create_task(caller.hammer([0, 1, 2, 3], 11))
    await until(lambda: caller.refused > 20)

    valkey.kill()
    await until(lambda: not any(map(shares, four)))
    alone = time.monotonic()
    await until(lambda: len(caller.since(alone)) > 80)
    took = time.monotonic() - alone
    for times in caller.let_in:
        assert len([at for at in times if at > alone]) <= caller.policy.burst + took * caller.policy.per_second
    assert len(caller.since(alone)) > caller.policy.burst + took * caller.policy.per_second

    valkey.start()
    await until(lambda: all(map(shares, four)))
    again = time.monotonic()
    await calling
    print(f"an exact bucket would be in debt by {caller.debt(again):.1f}, {len(caller.since(again))} let in again")
    assert caller.debt(again) <= caller.policy.per_second
    assert caller.others == []
    printed = "".join(line for serving in four for line in serving.lines)
    assert printed.count("rate limits are not shared") >= 4
    assert PASSWORD not in printed
