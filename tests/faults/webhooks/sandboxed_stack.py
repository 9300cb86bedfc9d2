"""A place to kill in: a database, processes that work on it, and a witness inside it.

Processes are the command line's own (`serve`, `work`), or doomed.
"""

import asyncio
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.domain import upkeep
from gatepass.migrations import runner
from tests import make
from tests.faults.gates import wait_for
from tests.faults.webhooks.doomed import Failpoint, Pace, doomed_api, doomed_worker
from tests.faults.webhooks.witness import DIES_WITHIN, WITNESS
from tests.make import House
from tests.postgres import Cluster, free_port
from tests.serving import Serving, launch, wait_until_ready

# Importing takes longer than all the rest of such a process's life, so it is done once, in the server that forks them.
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["__main__", "tests.faults.webhooks.doomed"])


@dataclass
class Doomed:
    """A process that will not end well."""

    name: str
    process: ForkServerProcess

    @classmethod
    async def start(cls, name: str, target: Callable[..., None], *given: object) -> Self:
        process = FORKING.Process(target=target, args=given, name=name, daemon=True)
        await asyncio.to_thread(process.start)
        return cls(name, process)

    def kill(self) -> None:
        self.process.kill()

    async def died(self) -> None:
        """Wait until it is dead, by SIGKILL and nothing else."""
        dead, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.add_reader(self.process.sentinel, dead.set)
        try:
            async with asyncio.timeout(DIES_WITHIN):
                await dead.wait()
        except TimeoutError:
            pytest.fail(f"{self.name} did not come to its failpoint")
        finally:
            loop.remove_reader(self.process.sentinel)
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL, f"{self.name} ended by itself: {self.process.exitcode}"


@dataclass
class Place:
    url: str
    db: Database
    house: House
    environment: dict[str, str]
    log: Path
    started: list[Doomed] = field(default_factory=list[Doomed])
    standing: list[Serving] = field(default_factory=list[Serving])
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def doom_worker(self, failpoint: Failpoint, countdown: int, pace: Pace, *, stops_at: str = "") -> Doomed:
        """A worker that dies at its failpoint, or as `stops_at` says stops at the barrier inside PostgreSQL."""
        name = f"worker {next(self.numbers)}, to die {failpoint} {countdown}"
        witnessed = {"gatepass.worker": name, "gatepass.stops_at": stops_at, "gatepass.countdown": str(countdown)}
        environment = self.environment_of(witnessed)
        return self._remember(
            await Doomed.start(name, doomed_worker, environment, str(self.log), failpoint, countdown, pace)
        )

    async def doom_api(self, failpoint: Failpoint, countdown: int, port: int) -> Doomed:
        name = f"api {next(self.numbers)}, to die {failpoint} {countdown}"
        environment = {**self.environment, "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}"}
        return self._remember(
            await Doomed.start(name, doomed_api, environment, str(self.log), failpoint, countdown, port)
        )

    async def serve(self) -> Serving:
        """A `gatepass serve` that nobody kills."""
        serving = launch(self.environment, free_port())
        self.standing.append(serving)
        await asyncio.to_thread(wait_until_ready, serving)
        return serving

    def work(self, name: str) -> Serving:
        """A `gatepass worker` of the command line."""
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("gatepass")), "worker"],
            env={**os.environ, **self.environment_of({"gatepass.worker": name})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        working = Serving(process)
        self.standing.append(working)
        return working

    async def value(self, sql: Any, *values: object) -> Any:
        async with self.db.reading() as tx:
            return await tx.value(sql, *values)

    async def drained(self, within: float) -> None:
        """Nothing is left to be sent."""

        async def is_empty() -> bool:
            await asyncio.sleep(0.1)
            return await self.value("SELECT NOT EXISTS (SELECT FROM webhook_queue)")

        await wait_for(is_empty, within=within)

    def errors(self) -> list[str]:
        """All that the processes had to say, besides their greetings: they log nothing but errors."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        lines += [line for serving in self.standing for line in serving.lines]
        return [line for line in lines if not line.startswith("Gatepass ")]

    def environment_of(self, witnessed: Mapping[str, str]) -> dict[str, str]:
        """PostgreSQL knows each session of the process by these settings."""
        return {**self.environment, "GATEPASS_DATABASE_URL": f"{self.url}?{urlencode(witnessed)}"}

    def _remember(self, doomed: Doomed) -> Doomed:
        self.started.append(doomed)
        return doomed

    async def close(self) -> None:
        for doomed in self.started:
            doomed.kill()
            doomed.process.join()
            doomed.process.close()
        for serving in self.standing:
            if serving.is_alive():
                serving.kill()
        await self.db.close()


@asynccontextmanager
async def opened(cluster: Cluster, name: str, folder: Path) -> AsyncGenerator[Place]:
    """A database of its own, and in the end nobody who works on it."""
    url = cluster.create_database(name)
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(WITNESS)
    db = Database(url, connections=16, deadline=20)
    await upkeep.keep(db, at=make.now())
    environment = {
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_ENCRYPTION_KEYS": make.KEY,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_WORKER_METRICS_PORT": "0",
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        "GATEPASS_LOG_LEVEL": "error",
    }
    place = Place(url, db, await make.house(db), environment, folder / "log")
    try:
        yield place
    finally:
        await place.close()
