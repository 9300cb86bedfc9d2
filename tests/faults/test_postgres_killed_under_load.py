"""PostgreSQL crashes five times under two processes. No acknowledged scan is lost, and the processes go on.

PostgreSQL is one of our own, and syncs to disk. All of its processes are killed, so that everything in its shared
memory that is not yet in a file is lost; a crash of the kernel is beyond these tests. A server that acknowledges
before it has written is the negative control.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import psycopg

from tests import factory
from tests.faults.gates import DEADLINE
from tests.faults.history_checker import faults
from tests.faults.http_client import Connection, connections
from tests.faults.recording_gates import Recorder, Venue, open_venue, tables
from tests.faults.records import Exchange, ScanRequest
from tests.postgres import Cluster, free_port, start_cluster
from tests.processes import GatepassProcess, wait_until_ready
from tests.size import NIGHT
from tests.warm.processes import launch

GATES = 64
TICKETS = 10_000
# The crash comes after the n-th activation since the last one.
MOMENTS = (500, 1, 100, 2000, 1000)
BACK_WITHIN = 2.0
TIMEOUT = 60.0
# Seconds before a retry after 503, as in our clients.
PAUSE = 0.1
# Scans that were answered within these seconds before a crash are sent again at the end.
RETRY_WINDOW = 0.5


@dataclass
class Service:
    cluster: Cluster
    url: str
    servers: tuple[GatepassProcess, GatepassProcess]
    venue: Venue


@asynccontextmanager
async def served(environment: dict[str, str], postgres: dict[str, str]) -> AsyncGenerator[Service]:
    cluster = start_cluster(settings=postgres)
    url = cluster.create_migrated("gatepass_killed")
    db = factory.database(url)
    environment = {
        **environment,
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_DATABASE_DEADLINE": DEADLINE,
        "GATEPASS_LOG_LEVEL": "warning",
    }
    servers = launch(environment, free_port()), launch(environment, free_port())
    try:
        for server in servers:
            await asyncio.to_thread(wait_until_ready, server)
        yield Service(cluster, url, servers, await open_venue(await factory.tenant(db), TICKETS))
    finally:
        for server in servers:
            server.stop()
        await db.close()
        cluster.stop()


@dataclass
class Load:
    """Gates that scan until the end, each scan with a key and until its answer is definite."""

    venue: Venue
    recorder: Recorder
    cards: Iterator[str]
    names: Iterator[int] = field(default_factory=itertools.count)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    crashes: list[float] = field(default_factory=lambda: [0.0])
    # Since the last crash: the number of answers 200, and the time of the first one of each process.
    activated: int = 0
    first_activated: dict[int, float] = field(default_factory=dict[int, float])
    is_over: bool = False

    async def gate(self, n: int, connection: Connection) -> None:
        while not self.is_over:
            name = next(self.names)
            request = ScanRequest(
                self.venue.ticket_key(next(self.cards)), f"gate {n}", f"scanner of {name}", f"retry of {name}"
            )
            while not (await self._scan(connection, request, n % 2)).is_definite():  # noqa: ASYNC110  it sends the scan again
                await asyncio.sleep(PAUSE)

    async def _scan(self, connection: Connection, request: ScanRequest, process: int) -> Exchange:
        one = await self.recorder.scan(connection, self.venue, request, process)
        assert one.answer is not None, "a connection was lost although only PostgreSQL was killed"
        if one.answer.status == 200 and one.started > self.crashes[-1]:
            async with self.changed:
                self.activated += 1
                self.first_activated.setdefault(process, one.ended)
                self.changed.notify_all()
        return one

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(TIMEOUT), self.changed:
            await self.changed.wait_for(holds)

    def crashed(self) -> None:
        self.crashes.append(time.monotonic())
        self.activated = 0
        self.first_activated.clear()


async def test_no_acknowledged_scan_is_lost(settings_env: dict[str, str]) -> None:
    async with served(settings_env, {"fsync": "on"}) as service:
        pids = [server.process.pid for server in service.servers]
        assert (await crashed_under_load(service))[:20] == []
        assert [server.process.pid for server in service.servers if server.is_alive()] == pids
        assert [line for server in service.servers for line in server.lines if "unhandled" in line] == []


async def test_a_server_that_loses_acknowledged_scans_is_found(settings_env: dict[str, str]) -> None:
    async with served(settings_env, {"fsync": "on", "synchronous_commit": "off", "wal_writer_delay": "5s"}) as service:
        found = Counter(fault.partition(":")[0] for fault in await crashed_under_load(service))
    print(dict(found))
    assert found["a_ticket_is_activated_once"] or found["acknowledged_activations_are_kept"]


async def crashed_under_load(service: Service) -> list[str]:
    """Crash under load, send some scans again at the end; the faults in the history."""
    venue, recorder = service.venue, Recorder()
    # Each card comes twice, so that the second scan is refused.
    cards = itertools.chain.from_iterable((number, number) for number in itertools.cycle(venue.numbers))
    load = Load(venue, recorder, cards)
    async with connections(service.servers, venue.key, GATES) as opened:
        async with asyncio.TaskGroup() as gates:
            for n, connection in enumerate(opened):
                gates.create_task(load.gate(n, connection))
            for moment in MOMENTS:
                await crash_and_restart(service, load, moment)
            load.is_over = True
        again = await retry_after_crashes(load, opened)
    print(f"\n{recorder.summary()}, sent again {again}")
    return faults(recorder.exchanges, await tables([venue], recorder.exchanges))


async def crash_and_restart(service: Service, load: Load, moment: int) -> None:
    await load.until(lambda: load.activated >= moment and len(load.first_activated) == 2)
    await asyncio.to_thread(service.cluster.kill)
    load.crashed()
    starting = asyncio.create_task(asyncio.to_thread(service.cluster.start))
    back_at = await asyncio.to_thread(first_connection, service.url)
    await starting
    await load.until(lambda: len(load.first_activated) == 2)
    took = [at - back_at for at in load.first_activated.values()]
    print(f"crash after {moment}: served again after {', '.join(f'{seconds:.2f}' for seconds in took)} s", end="; ")
    if NIGHT:
        assert max(took) < BACK_WITHIN


def first_connection(url: str) -> float:
    """Try until PostgreSQL accepts a connection; the time of it."""
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.005)
        else:
            return time.monotonic()


async def retry_after_crashes(load: Load, opened: list[Connection]) -> int:
    """Send the scans answered just before a crash to the other process again; the checker compares the answers."""
    before = {
        one.request: 1 - one.process
        for one in load.recorder.exchanges
        if one.is_definite() and any(at - RETRY_WINDOW < one.ended <= at for at in load.crashes)
    }
    waiting = [iter([request for request, process in before.items() if process == n]) for n in range(2)]

    async def gate(n: int, connection: Connection) -> None:
        for request in waiting[n % 2]:
            await load.recorder.scan(connection, load.venue, request, n % 2)

    await asyncio.gather(*(gate(n, connection) for n, connection in enumerate(opened)))
    return len(before)
