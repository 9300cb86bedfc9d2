"""What doors are measured on: a database with one large event, an API process, a studio process, and screens."""

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

from bench import world
from bench.engine import engine
from bench.measure import Slice, costed, wrk
from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.base.vault import new_key
from gatepass.domain import staff
from gatepass.domain.staff import Role
from tests.postgres import Cluster, free_port
from tests.serving import Serving, serve

BY = "bench"
CONNECTIONS = 64
# More than one process here does, so that no slice runs out of tickets.
ROOM = 9_000
# Each connection scans, waits so long, and scans again: some 2,000 a second where a scan takes little.
PAUSE_MS = 25


@dataclass
class Estate:
    """A database with one large event, an API process, a studio process, and somebody signed in."""

    cluster: Cluster
    url: str
    plan: Path
    organization_id: UUID
    event_id: UUID
    cookie: str
    api: Serving
    studio: Serving
    next_ticket: int = 0

    @property
    def stream(self) -> str:
        return f"{self.studio.url}/studio/live/events/{self.event_id}/door/stream"

    def scan(self, seconds: int, *, pause_ms: int = 0) -> Slice:
        """Scan for so long, each ticket once."""
        first = self.next_ticket
        self.next_ticket += seconds * ROOM
        return costed(
            lambda: wrk([self.api], self.plan, first, seconds, CONNECTIONS, "card", retry=True, room=ROOM,
                        pause_ms=pause_ms),
            [self.api.process.pid, self.studio.process.pid],
            self.cluster,
        )  # fmt: skip

    def activated(self) -> int:
        with psycopg.connect(self.url) as connection:
            ((number,),) = connection.execute(ACTIVATED, (self.organization_id, self.event_id)).fetchall()
        return number

    @contextmanager
    def screens(self, count: int) -> Generator["Shown"]:
        """So many screens with the door on them, in a process of their own."""
        with tempfile.NamedTemporaryFile("w+") as file:
            command = [sys.executable, "-m", "bench.doors.screens", self.stream, self.cookie, str(count)]
            with subprocess.Popen(command, stdout=file) as process:
                try:
                    shown = Shown(Path(file.name), count)
                    shown.until(lambda: len(shown.last()) == count, "the doors did not open")
                    yield shown
                finally:
                    process.terminate()


ACTIVATED = """
    SELECT count(*) FROM ticket
     WHERE organization_id = %s AND event_id = %s AND activated_at IS NOT NULL AND cancelled_at IS NULL
"""


@dataclass
class Shown:
    """What the screens have shown so far."""

    file: Path
    screens: int

    def lines(self) -> list[tuple[int, float, int]]:
        whole = self.file.read_text().rpartition("\n")[0].splitlines()
        return [(int(a), float(b), int(c)) for a, b, c in (line.split() for line in whole)]

    def last(self) -> dict[int, int]:
        return {screen: activated for screen, _, activated in self.lines()}

    def until(self, is_so: Callable[[], bool], complaint: str, within: float = 30) -> float:
        """Wait; how long it took."""
        began = time.monotonic()
        while not is_so():
            if time.monotonic() - began > within:
                raise AssertionError(f"{complaint}: {self.last()}")
            time.sleep(0.1)
        return time.monotonic() - began


@contextmanager
def estate(postgres: int, count: int) -> Generator[Estate]:
    with tempfile.TemporaryDirectory() as name, engine(postgres) as (cluster, url):
        made = world.load(url, Path(name), count, 1)
        with psycopg.connect(url) as connection:
            ((organization_id, event_id),) = connection.execute("SELECT organization_id, id FROM event").fetchall()
        cookie = asyncio.run(_signed_in(url, organization_id))
        env = {
            "GATEPASS_DATABASE_URL": url,
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_LOG_LEVEL": "warning",
        }
        api = serve(env, free_port(), "--only", "api")
        studio = serve({**env, "GATEPASS_METRICS_PORT": str(free_port())}, free_port(), "--only", "studio")
        try:
            yield Estate(cluster, url, made.plan, organization_id, event_id, cookie, api, studio)
        finally:
            api.stop()
            studio.stop()


async def _signed_in(url: str, organization_id: UUID) -> str:
    db = Database(url)
    cookie = await signed_in(db, organization_id)
    await db.close()
    return cookie


async def signed_in(db: Database, organization_id: UUID) -> str:
    """The cookie of an owner."""
    at = datetime.now(UTC)
    async with db.transaction() as tx:
        person = await staff.enrol(tx, f"{new_id()}@example.org", "Bench", at=at)
        await staff.join(tx, organization_id, person.id, Role.OWNER, by=BY, at=at)
        return await staff.begin(tx, person.id, at=at, address=None, browser="bench")


def all_show(made: Estate, shown: Shown) -> float:
    """Wait until every screen shows what the table holds, where the last scans may still be committed; how long."""
    return shown.until(
        lambda: set(shown.last().values()) == {made.activated()} and len(shown.last()) == shown.screens,
        "the doors do not show what the table holds",
    )
