"""Shared rate limits: the background task with a real server."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from signal import SIGCONT, SIGSTOP
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis import Redis

from gatepass.api.metrics import Metrics
from gatepass.api.shared_limits import BATCH, SharedLimits
from gatepass.domain.limits import Buckets, Policy
from tests.postgres import free_port
from tests.valkey import PASSWORD, Valkey

Whose = tuple[UUID, str]
FAST = Policy("default", 100, 200)
# It refills so slowly that nothing comes back during a test.
STILL = Policy("default", 0.001, 50)


@pytest.fixture
def whose() -> Whose:
    return uuid4(), "default"


@dataclass
class Process:
    """The buckets and metrics of one process."""

    buckets: Buckets = field(default_factory=Buckets)
    metrics: Metrics = field(default_factory=Metrics)

    def take(self, whose: Whose, policy: Policy, count: int = 1) -> int:
        """The number of calls, out of `count`, that are allowed."""
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
    async with asyncio.timeout(60):
        while not fact():  # noqa: ASYNC110  another process makes it true
            await asyncio.sleep(0.005)


def looking(valkey: Valkey) -> Redis:
    return Redis.from_url(valkey.url, decode_responses=True, protocol=2)


def level(valkey: Valkey, whose: Whose) -> float | None:
    """The level for all processes together; None for a full bucket."""
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
