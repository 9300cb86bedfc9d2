"""Alerts about scans fire when PostgreSQL is slow, freezes, and when a process dies."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from tests.observe.gates import scanning
from tests.observe.prometheus import Prometheus, Target, prometheus
from tests.observe.stack import Stack, running_stack
from tests.processes import GatepassProcess

FAILING = {"GatepassScansFail", "GatepassScansFailLately"}
SLOW = {"GatepassScansSlow", "GatepassScansSlowLately"}


@dataclass
class Watched:
    stack: Stack
    api: GatepassProcess
    prometheus: Prometheus

    async def firing(self, *names: str) -> None:
        await asyncio.to_thread(self.prometheus.wait_until_firing, *names)


@pytest.fixture(scope="module")
async def watched() -> AsyncGenerator[Watched]:
    async with running_stack() as stack:
        api = await asyncio.to_thread(stack.serve, "api")
        with prometheus([Target("gatepass-api", api.metrics_port)]) as watching:
            async with scanning(stack, api):
                yield Watched(stack, api, watching)


async def test_scans_are_slow(watched: Watched) -> None:
    """PostgreSQL stops for most of a second, again and again, so that many scans take longer than 500 ms."""

    async def stutter() -> None:
        while True:
            watched.stack.cluster.signal(signal.SIGSTOP)
            await asyncio.sleep(0.9)
            watched.stack.cluster.signal(signal.SIGCONT)
            await asyncio.sleep(0.1)

    assert watched.prometheus.firing() & SLOW == set()
    stuttering = asyncio.create_task(stutter())
    try:
        await watched.firing(*SLOW)
    finally:
        stuttering.cancel()
        await asyncio.wait([stuttering])
        watched.stack.cluster.signal(signal.SIGCONT)


async def test_postgres_freezes(watched: Watched) -> None:
    await asyncio.to_thread(watched.prometheus.wait_until_over, "GatepassNotServing")
    watched.stack.cluster.signal(signal.SIGSTOP)
    try:
        await watched.firing("GatepassNotServing", "GatepassNotReady", "GatepassUnavailable", *FAILING)
    finally:
        watched.stack.cluster.signal(signal.SIGCONT)


async def test_a_process_is_killed(watched: Watched) -> None:
    await asyncio.to_thread(watched.prometheus.wait_until_over, "GatepassNotServing")
    assert "GatepassProcessDown" not in watched.prometheus.firing()
    watched.api.kill()
    await watched.firing("GatepassProcessDown", "GatepassNotServing")
