"""What the tests of alerts start: a PostgreSQL of their own, an organization, and processes with metrics."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO

import psycopg

from tests import factory
from tests.factory import Tenant
from tests.postgres import Cluster, free_port, start_cluster
from tests.processes import GatepassProcess, wait_until_ready


@dataclass
class Stack:
    cluster: Cluster
    url: str
    tenant: Tenant
    started: list[GatepassProcess] = field(default_factory=list[GatepassProcess])

    def serve(
        self, interface: str, *changes: str, stderr: int | IO[bytes] = subprocess.STDOUT, **settings: str
    ) -> GatepassProcess:
        """A `gatepass serve` process that is ready. `changes` are those of impatient.py."""
        port = free_port()
        command = ["serve", "--only", interface, "--port", str(port)]
        server = self._start([*changes, *command], port, "GATEPASS_METRICS_PORT", settings, stderr)
        wait_until_ready(server)
        return server

    def work(self, **settings: str) -> GatepassProcess:
        worker = self._start(["worker"], 0, "GATEPASS_WORKER_METRICS_PORT", settings)
        worker.wait_for_line("delivers webhooks")
        return worker

    def run(self, sql: str, *values: object) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.encode(), values)

    def _start(
        self,
        command: list[str],
        port: int,
        variable: str,
        settings: Mapping[str, str],
        stderr: int | IO[bytes] = subprocess.STDOUT,
    ) -> GatepassProcess:
        metrics_port = free_port()
        environment = {
            "GATEPASS_DATABASE_URL": self.url,
            "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
            # A worker has no port of its own.
            **({"GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}"} if port else {}),
            "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
            "GATEPASS_LOG_LEVEL": "warning",
            variable: str(metrics_port),
            **settings,
        }
        process = GatepassProcess(
            subprocess.Popen(
                [sys.executable, "-m", "tests.observe.impatient", *command],
                env={**os.environ, **environment},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            ),
            port,
            metrics_port=metrics_port,
        )
        self.started.append(process)
        return process


@asynccontextmanager
async def running_stack() -> AsyncGenerator[Stack]:
    """A migrated database with an organization. The block starts processes, which are ended after it."""
    cluster = start_cluster()
    url = cluster.create_migrated("gatepass_observe")
    db = factory.database(url)
    stack = Stack(cluster, url, await factory.tenant(db))
    try:
        yield stack
    finally:
        for process in stack.started:
            if process.is_alive():
                process.kill()
        await db.close()
        cluster.stop()
