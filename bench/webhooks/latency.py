"""The time from a real scan to the receipt of its message, at 500 scans a second."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import aiohttp
import uvloop

from bench import dataset
from bench.report import Ratio
from bench.stack import api
from bench.webhooks.receipts import Latency, latency, taken
from bench.webhooks.stack import Stack, wait_until
from gatepass.base.settings import BASE_PATH
from tests.processes import GatepassProcess
from tests.receivers import receiver_process

A_SECOND = 500
P50_MS, P99_MS = 60.0, 300.0
# Scans before those that count: plans, caches, connections.
WARM = 500


def measure(stack: Stack, *, seconds: float, judged: bool) -> list[Latency]:
    """Figures that are judged must be of the rate that they are told of."""
    count = WARM + int(A_SECOND * seconds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stack.clear()
        data = dataset.load(stack.url, folder, count, 1)
        with (
            receiver_process(tls=stack.authority, log=folder / "received") as receiver,
            api(stack.url, 1) as served,
            stack.running_worker(),
        ):
            lines = [line.split() for line in data.plan.read_text().splitlines()]
            organization_id = _organization(stack, lines[0][1])
            stack.subscribe(organization_id, receiver.url)
            uvloop.run(_scan(served[0], lines[:WARM]))
            wait_until(lambda: receiver.count() == WARM)
            with stack.connect() as connection:
                connection.execute("TRUNCATE webhook_event")
            began = time.perf_counter()
            answered = uvloop.run(_scan(served[0], lines[WARM:]))
            spent = time.perf_counter() - began
            if judged and spent > 1.1 * seconds:
                raise AssertionError(f"the scans took {spent:.1f} s")
            return [
                latency("scan, to its answer", answered),
                latency("scan, to the receiver", taken(stack, receiver, organization_id)),
            ]


def _organization(stack: Stack, event_id: str) -> UUID:
    with stack.connect() as connection:
        return connection.execute("SELECT organization_id FROM event WHERE id = %s", (event_id,)).fetchall()[0][0]


async def _scan(server: GatepassProcess, lines: Sequence[Sequence[str]]) -> list[float]:
    """Scan at an even rate, without waiting for the answer before. Returns the seconds that each scan took."""
    loop = asyncio.get_running_loop()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began, tasks = loop.time(), []
        for n, line in enumerate(lines):
            await asyncio.sleep(began + n / A_SECOND - loop.time())
            tasks.append(asyncio.create_task(_scanned(session, server, line)))
        return await asyncio.gather(*tasks)


async def _scanned(session: aiohttp.ClientSession, server: GatepassProcess, line: Sequence[str]) -> float:
    key, event_id, number, _ = line
    began = time.perf_counter()
    async with session.post(
        f"{server.url}{BASE_PATH}/scan",
        headers={"Authorization": f"Bearer {key}", "Idempotency-Key": f"bench-{number}"},
        json={"event_id": event_id, "card_number": number.replace("_", " "), "gate": "North 2"},
    ) as answer:
        body = await answer.read()
        if answer.status != 200:
            raise AssertionError(body[:500])
    return time.perf_counter() - began


def ratios(latencies: list[Latency]) -> list[Ratio]:
    *_, received = latencies
    return [
        Ratio("ms from commit to receipt, p50", received.p50, P50_MS, at_most=True),
        Ratio("ms from commit to receipt, p99", received.p99, P99_MS, at_most=True),
    ]
