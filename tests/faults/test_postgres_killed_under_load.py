"""PostgreSQL crashes five times under two processes that serve. Nothing acknowledged is lost, and they go on.

The server is one of our own, and it syncs to disk. All of its processes are killed, so that whatever was in its
shared memory and not yet in a file is gone; a kernel that goes down with it is beyond these tests. A server that
acknowledges before it has written is the negative control.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.migrations import runner
from tests import make
from tests.faults.history import faults
from tests.faults.recorder import Recorder, Venue, open_venue, tables
from tests.faults.records import Asked, Request
from tests.faults.wire import Line, lines
from tests.postgres import Cluster, free_port, start_cluster
from tests.serving import Serving, launch, wait_until_ready

pytestmark = pytest.mark.slow

GATES = 64
TICKETS = 10_000
# The crash comes after the n-th activation since the last one.
MOMENTS = (500, 1, 100, 2000, 1000)
BACK_WITHIN = 2.0
PATIENCE = 30.0
# Who is told to try again takes a breath; our clients do.
BREATH = 0.1
# Whoever was answered this shortly before a crash asks again when all is over.
SHORTLY = 0.5


@dataclass
class Place:
    cluster: Cluster
    url: str
    servings: tuple[Serving, Serving]
    venue: Venue


@asynccontextmanager
async def served(environment: dict[str, str], postgres: dict[str, str]) -> AsyncGenerator[Place]:
    cluster = start_cluster(settings=postgres)
    url = cluster.create_database("gatepass_killed")
    runner.upgrade(url)
    db = Database(url, deadline=20)
    environment = {**environment, "GATEPASS_DATABASE_URL": url, "GATEPASS_LOG_LEVEL": "warning"}
    servings = launch(environment, free_port()), launch(environment, free_port())
    try:
        for serving in servings:
            await asyncio.to_thread(wait_until_ready, serving)
        yield Place(cluster, url, servings, await open_venue(await make.house(db), TICKETS))
    finally:
        for serving in servings:
            serving.stop()
        await db.close()
        cluster.stop()


@dataclass
class Load:
    """Gates that scan until it is over, each with a key, and again until the answer is definite."""

    venue: Venue
    recorder: Recorder
    cards: Iterator[str]
    names: Iterator[int] = field(default_factory=itertools.count)
    told: asyncio.Condition = field(default_factory=asyncio.Condition)
    crashes: list[float] = field(default_factory=lambda: [0.0])
    # Since the last crash: how many were told 200, and when each process first told it.
    activated: int = 0
    first_activated: dict[int, float] = field(default_factory=dict[int, float])
    is_over: bool = False

    async def gate(self, n: int, line: Line) -> None:
        while not self.is_over:
            name = next(self.names)
            asked = Asked(self.venue.place(next(self.cards)), f"gate {n}", f"scanner of {name}", f"retry of {name}")
            while not (await self._scan(line, asked, n % 2)).is_definite():  # noqa: ASYNC110  it asks again
                await asyncio.sleep(BREATH)

    async def _scan(self, line: Line, asked: Asked, process: int) -> Request:
        one = await self.recorder.scan(line, self.venue, asked, process)
        assert one.told is not None, "a connection was lost although only PostgreSQL was killed"
        if one.told.status == 200 and one.started > self.crashes[-1]:
            async with self.told:
                self.activated += 1
                self.first_activated.setdefault(process, one.ended)
                self.told.notify_all()
        return one

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self.told:
            await self.told.wait_for(holds)

    def crashed(self) -> None:
        self.crashes.append(time.monotonic())
        self.activated = 0
        self.first_activated.clear()


async def test_nothing_acknowledged_is_lost(settings_env: dict[str, str]) -> None:
    async with served(settings_env, {"fsync": "on"}) as place:
        pids = [serving.process.pid for serving in place.servings]
        assert (await shaken(place))[:20] == []
        assert [serving.process.pid for serving in place.servings if serving.is_alive()] == pids
        assert [line for serving in place.servings for line in serving.lines if "unhandled" in line] == []


async def test_a_server_that_loses_what_it_acknowledged_is_found_out(settings_env: dict[str, str]) -> None:
    async with served(settings_env, {"fsync": "on", "synchronous_commit": "off", "wal_writer_delay": "5s"}) as place:
        found = Counter(fault.partition(":")[0] for fault in await shaken(place))
    print(dict(found))
    assert found["a_ticket_is_activated_once"] or found["what_was_acknowledged_is_kept"]


async def shaken(place: Place) -> list[str]:
    """Crash under load, ask again in the end; the faults in what was told."""
    venue, recorder = place.venue, Recorder()
    # Each card comes twice, so that the second is refused.
    cards = itertools.chain.from_iterable((number, number) for number in itertools.cycle(venue.numbers))
    load = Load(venue, recorder, cards)
    async with lines(place.servings, venue.key, GATES) as opened:
        async with asyncio.TaskGroup() as gates:
            for n, line in enumerate(opened):
                gates.create_task(load.gate(n, line))
            for moment in MOMENTS:
                await crash_and_come_back(place, load, moment)
            load.is_over = True
        again = await ask_again(load, opened)
    print(f"\n{recorder.tally()}, asked again {again}")
    return faults(recorder.requests, await tables([venue], recorder.requests))


async def crash_and_come_back(place: Place, load: Load, moment: int) -> None:
    await load.until(lambda: load.activated >= moment and len(load.first_activated) == 2)
    await asyncio.to_thread(place.cluster.kill)
    load.crashed()
    starting = asyncio.create_task(asyncio.to_thread(place.cluster.start))
    back_at = await asyncio.to_thread(first_connection, place.url)
    await starting
    await load.until(lambda: len(load.first_activated) == 2)
    took = [at - back_at for at in load.first_activated.values()]
    print(f"crash after {moment}: served again after {', '.join(f'{seconds:.2f}' for seconds in took)} s", end="; ")
    assert max(took) < BACK_WITHIN


def first_connection(url: str) -> float:
    """Try until PostgreSQL takes a connection; when that was."""
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.005)
        else:
            return time.monotonic()


async def ask_again(load: Load, opened: list[Line]) -> int:
    """Who was answered just before a crash asks again, at the other process; the checker compares."""
    before = {
        one.asked: 1 - one.process
        for one in load.recorder.requests
        if one.is_definite() and any(at - SHORTLY < one.ended <= at for at in load.crashes)
    }
    waiting = [iter([asked for asked, process in before.items() if process == n]) for n in range(2)]

    async def gate(n: int, line: Line) -> None:
        for asked in waiting[n % 2]:
            await load.recorder.scan(line, load.venue, asked, n % 2)

    await asyncio.gather(*(gate(n, line) for n, line in enumerate(opened)))
    return len(before)
