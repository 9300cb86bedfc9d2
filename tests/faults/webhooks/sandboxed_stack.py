"""A stack for kills: a database of its own with a claim log, and processes on it.

Processes are those of the command line (`serve`, `work`), or crash at a failpoint.
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
from gatepass.domain import maintenance
from tests import factory
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.faults.webhooks.claim_log import CLAIM_LOG, DIES_WITHIN
from tests.faults.webhooks.crash_points import Failpoint, Pace, crashing_api, crashing_worker
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, wait_until_ready
from tests.warm.processes import launch

# Importing takes longer than the rest of such a process's life, so it is done once, in the fork server.
FORK_SERVER = multiprocessing.get_context("forkserver")
FORK_SERVER.set_forkserver_preload(["__main__", "tests.faults.webhooks.crash_points"])


@dataclass
class CrashingProcess:
    """A process that ends by SIGKILL."""

    name: str
    process: ForkServerProcess

    @classmethod
    async def start(cls, name: str, target: Callable[..., None], *given: object) -> Self:
        process = FORK_SERVER.Process(target=target, args=given, name=name, daemon=True)
        await asyncio.to_thread(process.start)
        return cls(name, process)

    def kill(self) -> None:
        self.process.kill()

    async def died(self) -> None:
        """Wait until it has ended, by SIGKILL and nothing else."""
        dead, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.add_reader(self.process.sentinel, dead.set)
        try:
            async with asyncio.timeout(DIES_WITHIN):
                await dead.wait()
        except TimeoutError:
            pytest.fail(f"{self.name} did not reach its failpoint")
        finally:
            loop.remove_reader(self.process.sentinel)
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL, f"{self.name} ended by itself: {self.process.exitcode}"


@dataclass
class Stack:
    url: str
    db: Database
    tenant: Tenant
    environment: dict[str, str]
    log: Path
    started: list[CrashingProcess] = field(default_factory=list[CrashingProcess])
    steady: list[GatepassProcess] = field(default_factory=list[GatepassProcess])
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def start_crashing_worker(
        self, failpoint: Failpoint, countdown: int, pace: Pace, *, stops_at: str = ""
    ) -> CrashingProcess:
        """A worker that crashes at its failpoint, or stops at the barrier inside PostgreSQL that `stops_at` names."""
        name = f"worker {next(self.numbers)}, crashes {failpoint} {countdown}"
        session_settings = {
            "gatepass.worker": name,
            "gatepass.stops_at": stops_at,
            "gatepass.countdown": str(countdown),
        }
        environment = self.environment_of(session_settings)
        return self._remember(
            await CrashingProcess.start(name, crashing_worker, environment, str(self.log), failpoint, countdown, pace)
        )

    async def start_crashing_api(self, failpoint: Failpoint, countdown: int, port: int) -> CrashingProcess:
        name = f"api {next(self.numbers)}, crashes {failpoint} {countdown}"
        environment = {**self.environment, "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}"}
        return self._remember(
            await CrashingProcess.start(name, crashing_api, environment, str(self.log), failpoint, countdown, port)
        )

    async def serve(self) -> GatepassProcess:
        """A `gatepass serve` that is not killed."""
        server = launch(self.environment, free_port())
        self.steady.append(server)
        await asyncio.to_thread(wait_until_ready, server)
        return server

    def work(self, name: str) -> GatepassProcess:
        """A `gatepass worker` that is not killed."""
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("gatepass")), "worker"],
            env={**os.environ, **self.environment_of({"gatepass.worker": name})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        working = GatepassProcess(process)
        self.steady.append(working)
        return working

    async def value(self, sql: Any, *values: object) -> Any:
        async with self.db.autocommit() as tx:
            return await tx.value(sql, *values)

    async def drained(self, within: float) -> None:
        """Wait until the queue is empty."""

        async def is_empty() -> bool:
            await asyncio.sleep(0.1)
            return await self.value("SELECT NOT EXISTS (SELECT FROM webhook_queue)")

        await wait_for(is_empty, within=within)

    def errors(self) -> list[str]:
        """The log of all processes without the lines that announce them: they log errors only."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        lines += [line for server in self.steady for line in server.lines]
        return [line for line in lines if not line.startswith("Gatepass ")]

    def environment_of(self, session_settings: Mapping[str, str]) -> dict[str, str]:
        """Every session of the process has these settings in PostgreSQL."""
        return {**self.environment, "GATEPASS_DATABASE_URL": f"{self.url}?{urlencode(session_settings)}"}

    def _remember(self, crashing: CrashingProcess) -> CrashingProcess:
        self.started.append(crashing)
        return crashing

    async def close(self) -> None:
        for crashing in self.started:
            crashing.kill()
            crashing.process.join()
            crashing.process.close()
        for server in self.steady:
            if server.is_alive():
                server.kill()
        await self.db.close()


@asynccontextmanager
async def opened(cluster: Cluster, name: str, folder: Path) -> AsyncGenerator[Stack]:
    """A stack on a database of its own. At the end all of its processes are killed."""
    url = cluster.create_migrated(name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(CLAIM_LOG)
    db = factory.database(url, connections=16)
    await maintenance.run_due(db, at=factory.now())
    environment = {
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_WORKER_METRICS_PORT": "0",
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        "GATEPASS_LOG_LEVEL": "error",
    }
    stack = Stack(url, db, await factory.tenant(db), environment, folder / "log")
    try:
        yield stack
    finally:
        await stack.close()
