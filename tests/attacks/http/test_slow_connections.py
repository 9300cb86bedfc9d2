"""Slow callers: thousands of them delay no gate, and all are cut off when their time is over."""

import os
import time
from collections.abc import AsyncGenerator, Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median

import pytest

from tests.factory import Tenant
from tests.faults.gates import load, scan_body, wait_for
from tests.faults.http_client import connections
from tests.postgres import free_port
from tests.processes import GatepassProcess, page_of, serve
from tests.scan_probe import is_small_delay
from tests.server.slow_callers import SlowCallers
from tests.size import NIGHT

pytestmark = [pytest.mark.finding(5), pytest.mark.alone]

CALLERS = 2_000
DEADLINE = 12
# On submission one: nothing is judged by time.
ROUNDS, MOST_ROUNDS = (5, 15) if NIGHT else (1, 1)
SCANS = 200
# Connections to PostgreSQL come and go.
SPARE = 16
# Callers are of these kinds in turn.
EACH = {"slow_head": 667, "slow_body": 667, "unread_response": 666}


@pytest.fixture
def hurried(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """A process with short deadlines, and with metrics."""
    deadlines = {f"GATEPASS_{part}_DEADLINE": str(DEADLINE) for part in ("HEAD", "BODY", "WRITE")}
    metrics = {"GATEPASS_METRICS_PORT": str(free_port()), "GATEPASS_LOG_LEVEL": "info"}
    process = serve({**settings_env, **deadlines, **metrics}, free_port())
    yield process
    process.stop()


@pytest.fixture
async def callers(hurried: GatepassProcess, tenant: Tenant) -> AsyncGenerator[SlowCallers]:
    started = SlowCallers(hurried.port, (await tenant.key()).text)
    yield started
    started.stop()


def files_of(server: GatepassProcess) -> int:
    """Files that the process has open, connections among them."""
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))  # noqa: PTH208  polled often, and thousands


def cut_off(server: GatepassProcess) -> dict[str, float]:
    """The counters of connections that were cut off, by reason."""
    _, metrics = page_of(f"http://127.0.0.1:{server.metrics_port}/metrics")
    named = "gatepass_connections_cut_off_total{"
    return {line.split('"')[1]: float(line.split()[-1]) for line in metrics.splitlines() if line.startswith(named)}


def gone_since(before: dict[str, float], server: GatepassProcess) -> dict[str, int]:
    return {kind: int(count - before[kind]) for kind, count in cut_off(server).items() if kind in EACH}


@dataclass
class Gate:
    """Scans one card after another."""

    server: GatepassProcess
    tenant: Tenant
    key: str
    cards: Iterator[str]

    async def p99_ms(self) -> float:
        """The 99th percentile of the time that a scan takes, of SCANS."""
        times: list[float] = []
        async with connections((self.server,), self.key, 1) as (connection,):
            for number in islice(self.cards, SCANS):
                began = time.perf_counter()
                connection.send(scan_body(self.tenant, {"card_number": number}, None))
                answer = await connection.answer()
                times.append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200
        return sorted(times)[int(len(times) * 0.99)]


async def test_thousands_of_slow_callers_delay_no_gate_and_are_cut_off(
    hurried: GatepassProcess, tenant: Tenant, callers: SlowCallers
) -> None:
    key = await tenant.key(rate=100_000)
    gate = Gate(hurried, tenant, key.text, iter(await load(tenant, SCANS * (3 * MOST_ROUNDS + 1))))
    await gate.p99_ms()
    usual = files_of(hurried)
    began, before = 0.0, dict.fromkeys(EACH, 0.0)
    alone: list[float] = []
    crowded: list[float] = []
    # If a few rounds say that they delay it, more are added: a few may be noise, and all count.
    while len(alone) < ROUNDS or (len(alone) < MOST_ROUNDS and not is_small_delay(alone, crowded)):
        callers.open(0)
        await wait_for(lambda: is_left_alone(hurried, usual), within=DEADLINE)
        await gate.p99_ms()  # what two thousand goodbyes cost does not count
        alone.append(await gate.p99_ms())
        before = cut_off(hurried)
        assert callers.open(CALLERS) == CALLERS
        began = time.monotonic()
        await wait_for(lambda: is_crowded(hurried, usual), within=DEADLINE)
        crowded.append(await gate.p99_ms())
        assert await is_crowded(hurried, usual), "they were there all the time"

    async def are_cut_off() -> bool:
        return await is_left_alone(hurried, usual) and gone_since(before, hurried) == EACH

    await wait_for(are_cut_off, within=DEADLINE * 3)
    took = time.monotonic() - began
    print(f"\np99 of a scan alone: {rounded(alone)} ms; beside {CALLERS:,} slow callers: {rounded(crowded)} ms")
    print(f"all were gone {took:.1f} s after they had come (deadline {DEADLINE} s)")
    if NIGHT:
        assert is_small_delay(alone, crowded)
        assert took < 2 * DEADLINE


async def is_crowded(server: GatepassProcess, usual: int) -> bool:
    return files_of(server) >= usual + CALLERS - SPARE


async def is_left_alone(server: GatepassProcess, usual: int) -> bool:
    return files_of(server) <= usual + SPARE


def rounded(times: list[float]) -> str:
    return f"{median(times):.1f} ({', '.join(f'{one:.1f}' for one in times)})"
