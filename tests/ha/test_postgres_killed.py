"""The load and the judge as the lab runs them, over one PostgreSQL that is killed: nothing is lost."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from tests import factory
from tests.ha import world
from tests.ha.judge import Judgement, judge
from tests.postgres import Cluster, free_port, start_cluster
from tests.processes import GatepassProcess, launch, launch_worker, wait_until_ready

TICKETS = 5_000
# Activations before each kill, and after the last one.
ACTIVATIONS = 60
TIMEOUT = 60.0


async def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    found = await killed_under_load(tmp_path, {"fsync": "on"})
    assert (found.violations, found.examples) == ({}, [])
    assert found.counts["answered 503 unavailable"] > 0


async def killed_under_load(folder: Path, postgres: dict[str, str]) -> Judgement:
    """Kill PostgreSQL twice under two API processes, each time in the middle of scans."""
    async with served(folder, postgres) as (cluster, url):
        with started("tests.ha.load", str(folder / "config.json")) as load:
            for n in (1, 2):
                await asyncio.to_thread(wait_for_activations, folder / "journal.jsonl", n * ACTIVATIONS)
                await asyncio.to_thread(cluster.kill)
                await asyncio.to_thread(cluster.start)
            await asyncio.to_thread(wait_for_activations, folder / "journal.jsonl", 3 * ACTIVATIONS)
            load.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(load.wait, 2 * TIMEOUT) == 0
        found = await judge(
            folder / "journal.jsonl", folder / "world.json", folder / "received.jsonl", url, fault_at=None
        )
    print(json.dumps(found.as_json()))
    return found


def wait_for_activations(journal: Path, count: int) -> None:
    """Wait until the SDK has told of so many."""
    ends = time.monotonic() + TIMEOUT
    while not journal.exists() or journal.read_text().count('"verdict": "activated"') < count:
        assert time.monotonic() < ends, "the gates do not get in"
        time.sleep(0.05)


@asynccontextmanager
async def served(folder: Path, postgres: dict[str, str]) -> AsyncGenerator[tuple[Cluster, str]]:
    cluster = start_cluster(settings=postgres)
    processes: list[GatepassProcess] = []
    try:
        url = cluster.create_migrated("gatepass_killed")
        environment = {
            "GATEPASS_DATABASE_URL": url,
            "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
            "GATEPASS_LOG_LEVEL": "warning",
        }
        servers = [launch(environment, free_port(), "--only", "api") for _ in range(2)]
        processes += [*servers, launch_worker(environment)]
        port = free_port()
        db = factory.database(url)
        made = await world.create(db, factory.VAULT, count=TICKETS, receiver_url=f"http://127.0.0.1:{port}/hook")
        await db.close()
        made.write(folder / "world.json")
        for server in servers:
            await asyncio.to_thread(wait_until_ready, server)
        config = {
            "world": str(folder / "world.json"),
            "journal": str(folder / "journal.jsonl"),
            "urls": {"north": servers[0].url, "south": servers[1].url},
        }
        (folder / "config.json").write_text(json.dumps(config))
        arguments = ("127.0.0.1", str(port), str(folder / "world.json"), str(folder / "received.jsonl"))
        with started("tests.ha.receiver", *arguments):
            yield cluster, url
    finally:
        for process in processes:
            process.stop()
        cluster.stop()


@contextmanager
def started(module: str, *arguments: str) -> Generator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(TIMEOUT)
