"""The stack under measurement: a database with one large event, an API process, and devices that are paired with it."""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from nacl.signing import SigningKey

from bench import dataset
from bench.measure import Slice, costed, wrk
from bench.stack import migrated_database
from gatepass.base.database import Database
from gatepass.base.encryption import Vault, new_key
from gatepass.base.settings import BASE_PATH
from gatepass.domain import cards, devices
from gatepass.domain.keys import Mode
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, serve

BY = "bench"
TICKETS_A_SECOND = 9_000
OPEN_WITHIN = 120


@dataclass
class Stack:
    """`keys` are those of the devices, `public_keys` those that sign manifests."""

    cluster: Cluster
    url: str
    env: dict[str, str]
    plan: Path
    organization_id: UUID
    event_id: UUID
    keys: list[str]
    public_keys: list[bytes]
    api: GatepassProcess
    next_ticket: int = 0

    @property
    def path(self) -> str:
        return f"{BASE_PATH}/events/{self.event_id}/manifest"

    def scan(self, seconds: int, *, connections: int = 64, pause_ms: int = 0, most: int = TICKETS_A_SECOND) -> Slice:
        """Scan for this long, each ticket once; `most` tickets a second are set aside for it."""
        first = self.next_ticket
        self.next_ticket += seconds * most
        return costed(
            lambda: wrk([self.api], self.plan, first, seconds, connections, "card", tickets_a_second=most,
                        pause_ms=pause_ms),
            [self.api.process.pid],
            self.cluster,
        )  # fmt: skip

    def restart(self) -> None:
        """An API process that has made no manifest yet."""
        self.api.stop()
        self.api = serve(self.env, free_port(), "--only", "api")

    @contextmanager
    def following(self, count: int) -> Generator[dict[str, Any]]:
        """Devices that follow the event, in a process of their own. Their last states are there when they have left."""
        with tempfile.TemporaryDirectory() as name:
            keys, states = Path(name) / "keys", Path(name) / "states"
            keys.write_text("\n".join(self.keys[:count]))
            command = [sys.executable, "-m", "bench.manifest.devices", self.api.url, self.path, str(keys), str(states)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                assert process.stdin is not None
                opened = process.stdout.readline()
                assert opened.strip() == f"{count} follow", opened
                found: dict[str, Any] = {}
                yield found
                process.stdin.write("leave\n")
                process.stdin.flush()
                process.wait(OPEN_WITHIN)
                found.update(json.loads(states.read_text()))


@contextmanager
def running_stack(postgres: int, count: int, device_count: int) -> Generator[Stack]:
    with tempfile.TemporaryDirectory() as name, migrated_database(postgres) as (cluster, url):
        data = dataset.load(url, Path(name), count, 1)
        with psycopg.connect(url) as connection:
            ((organization_id, event_id),) = connection.execute("SELECT organization_id, id FROM event").fetchall()
        key = new_key()
        paired, public_keys = asyncio.run(_paired(url, key, organization_id, event_id, device_count))
        env = {
            "GATEPASS_DATABASE_URL": url,
            "GATEPASS_ENCRYPTION_KEYS": key,
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_LOG_LEVEL": "warning",
        }
        api = serve(env, free_port(), "--only", "api")
        stack = Stack(cluster, url, env, data.plan, organization_id, event_id, paired, public_keys, api)
        try:
            yield stack
        finally:
            stack.api.stop()


async def _paired(
    url: str, encryption_key: str, organization_id: UUID, event_id: UUID, count: int
) -> tuple[list[str], list[bytes]]:
    """The keys of new devices; a key that signs, sealed for the server."""
    db, at = Database(url, deadline=120), datetime.now(UTC)
    paired: list[str] = []
    async with db.transaction() as tx:
        await cards.rotate(tx, organization_id, Vault([encryption_key]), by=BY, at=at)
        for number in range(count):
            public_key = bytes(SigningKey.generate().verify_key)
            _, key = await devices.pair_now(
                tx,
                organization_id,
                Mode.LIVE,
                f"Device {number}",
                public_key,
                event_id,
                "North",
                cell="a",
                by=BY,
                at=at,
            )
            paired.append(key)
        public_keys = [key.public_key for key in await cards.verifying_keys(tx, organization_id)]
    await db.close()
    return paired, public_keys


def settle(seconds: float = 2.0) -> None:
    """Let what the slice before has left behind be done: streams that end, log lines that are written."""
    time.sleep(seconds)
