"""How soon a message of a real scan is with its receiver, at 500 scans a second."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import aiohttp
import uvloop

from bench import world
from bench.engine import api
from bench.report import Ratio
from bench.webhooks.estate import Estate, until
from bench.webhooks.receipts import Latency, latency, taken
from gatepass.base.settings import BASE_PATH
from tests.receivers import receiver_process
from tests.serving import Serving

A_SECOND = 500
P50_MS, P99_MS = 60.0, 300.0
# Scans before those that count: plans, caches, connections.
WARM = 500


def measure(estate: Estate, *, seconds: float) -> list[Latency]:
    count = WARM + int(A_SECOND * seconds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        estate.empty()
        made = world.load(estate.url, folder, count, 1)
        with (
            receiver_process(tls=estate.authority, log=folder / "received") as receiver,
            api(estate.url, 1) as served,
            estate.working(),
        ):
            lines = [line.split() for line in made.plan.read_text().splitlines()]
            organization_id = _organization(estate, lines[0][1])
            estate.subscribe(organization_id, receiver.url)
            uvloop.run(_scan(served[0], lines[:WARM]))
            until(lambda: receiver.count() == WARM)
            with estate.connect() as connection:
                connection.execute("TRUNCATE webhook_event")
            began = time.perf_counter()
            answered = uvloop.run(_scan(served[0], lines[WARM:]))
            spent = time.perf_counter() - began
            if spent > 1.1 * seconds:
                raise AssertionError(f"the scans took {spent:.1f} s")
            return [
                latency("scan, to its answer", answered),
                latency("scan, to the receiver", taken(estate, receiver, organization_id)),
            ]


def _organization(estate: Estate, event_id: str) -> UUID:
    with estate.connect() as connection:
        return connection.execute("SELECT organization_id FROM event WHERE id = %s", (event_id,)).fetchall()[0][0]


async def _scan(serving: Serving, lines: Sequence[Sequence[str]]) -> list[float]:
    """Scan these at an even rate, whether or not the one before has been answered; the seconds that each took."""
    loop = asyncio.get_running_loop()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began, tasks = loop.time(), []
        for n, line in enumerate(lines):
            await asyncio.sleep(began + n / A_SECOND - loop.time())
            tasks.append(asyncio.create_task(_scanned(session, serving, line)))
        return await asyncio.gather(*tasks)


async def _scanned(session: aiohttp.ClientSession, serving: Serving, line: Sequence[str]) -> float:
    key, event_id, number, _ = line
    began = time.perf_counter()
    async with session.post(
        f"{serving.url}{BASE_PATH}/scan",
        headers={"Authorization": f"Bearer {key}", "Idempotency-Key": f"bench-{number}"},
        json={"event_id": event_id, "card_number": number.replace("_", " "), "gate": "North 2"},
    ) as answer:
        said = await answer.read()
        if answer.status != 200:
            raise AssertionError(said[:500])
    return time.perf_counter() - began


def ratios(latencies: list[Latency]) -> list[Ratio]:
    *_, received = latencies
    return [
        Ratio("ms from commit to receipt, p50", received.p50, P50_MS, at_most=True),
        Ratio("ms from commit to receipt, p99", received.p99, P99_MS, at_most=True),
    ]
