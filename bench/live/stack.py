"""The stack under measurement: a database with one large event, an API process, a studio process, and screens."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psycopg

from bench import dataset
from bench.measure import Slice, costed, wrk
from bench.stack import migrated_database
from gatepass.base.database import Database
from gatepass.base.encryption import new_key
from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role
from gatepass.studio.services.templates import root_of
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, serve

BY = "bench"
CONNECTIONS = 64
# More scans than one API process answers, so that no slice runs out of tickets.
TICKETS_A_SECOND = 9_000
# Each connection scans, waits this long, and scans again: some 2,000 scans a second if a scan takes a few milliseconds.
PAUSE_MS = 25


@dataclass
class Stack:
    """A database with one large event, an API process, a studio process, and an owner's session cookie."""

    cluster: Cluster
    url: str
    plan: Path
    organization_id: UUID
    event_id: UUID
    cookie: str
    api: GatepassProcess
    studio: GatepassProcess
    next_ticket: int = 0

    @property
    def stream(self) -> str:
        return f"{self.studio.url}{root_of(self.organization_id, 'live')}/events/{self.event_id}/live/stream"

    def scan(self, seconds: int, *, pause_ms: int = 0) -> Slice:
        """Scan for this long, each ticket once."""
        first = self.next_ticket
        self.next_ticket += seconds * TICKETS_A_SECOND
        return costed(
            lambda: wrk([self.api], self.plan, first, seconds, CONNECTIONS, "card",
                        tickets_a_second=TICKETS_A_SECOND, pause_ms=pause_ms),
            [self.api.process.pid, self.studio.process.pid],
            self.cluster,
        )  # fmt: skip

    def activated(self) -> int:
        with psycopg.connect(self.url) as connection:
            ((number,),) = connection.execute(ACTIVATED, (self.organization_id, self.event_id)).fetchall()
        return number

    @contextmanager
    def screens(self, count: int) -> Generator["ScreenLog"]:
        """Screens with the live page, in a process of their own."""
        with tempfile.NamedTemporaryFile("w+") as file:
            command = [sys.executable, "-m", "bench.live.screens", self.stream, self.cookie, str(count)]
            with subprocess.Popen(command, stdout=file) as process:
                try:
                    log = ScreenLog(Path(file.name), count)
                    log.wait_until(lambda: len(log.last()) == count, "the screens did not open")
                    yield log
                finally:
                    process.terminate()


ACTIVATED = """
    SELECT count(*) FROM ticket
     WHERE organization_id = %s AND event_id = %s AND activated_at IS NOT NULL AND cancelled_at IS NULL
"""


@dataclass
class ScreenLog:
    """The figures that the screens have shown so far."""

    file: Path
    screens: int

    def lines(self) -> list[tuple[int, float, int]]:
        whole = self.file.read_text().rpartition("\n")[0].splitlines()
        return [(int(a), float(b), int(c)) for a, b, c in (line.split() for line in whole)]

    def last(self) -> dict[int, int]:
        return {screen: activated for screen, _, activated in self.lines()}

    def wait_until(self, holds: Callable[[], bool], complaint: str, within: float = 30) -> float:
        """Returns the seconds that it took."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > within:
                raise AssertionError(f"{complaint}: {self.last()}")
            time.sleep(0.1)
        return time.monotonic() - began


@contextmanager
def running_stack(postgres: int, count: int) -> Generator[Stack]:
    with tempfile.TemporaryDirectory() as name, migrated_database(postgres) as (cluster, url):
        data = dataset.load(url, Path(name), count, 1)
        with psycopg.connect(url) as connection:
            ((organization_id, event_id),) = connection.execute("SELECT organization_id, id FROM event").fetchall()
        cookie = asyncio.run(_session(url, organization_id))
        env = {
            "GATEPASS_DATABASE_URL": url,
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_LOG_LEVEL": "warning",
        }
        api = serve(env, free_port(), "--only", "api")
        studio = serve({**env, "GATEPASS_METRICS_PORT": str(free_port())}, free_port(), "--only", "studio")
        try:
            yield Stack(cluster, url, data.plan, organization_id, event_id, cookie, api, studio)
        finally:
            api.stop()
            studio.stop()


async def _session(url: str, organization_id: UUID) -> str:
    db = Database(url)
    cookie = await signed_in(db, organization_id)
    await db.close()
    return cookie


async def signed_in(db: Database, organization_id: UUID) -> str:
    """The session cookie of a new owner."""
    at = datetime.now(UTC)
    async with db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Bench", at=at)
        await staff.join(tx, organization_id, person.id, Role.OWNER, by=BY, at=at)
        return await staff.begin(tx, person.id, at=at, address=None, browser="bench")


def wait_until_all_show(stack: Stack, log: ScreenLog) -> float:
    """Wait until every screen shows the count of the table; the last scans may still commit. Returns the seconds."""
    return log.wait_until(
        lambda: set(log.last().values()) == {stack.activated()} and len(log.last()) == log.screens,
        "the screens do not show the count of the table",
    )
