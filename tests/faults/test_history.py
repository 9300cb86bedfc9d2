"""Eight processes, a minute of gates that race for few cards: the history checker can explain every answer.

New cards come while it runs, so that first activations are raced for all the time. The mutants at the end are the
negative control: the same run, for some seconds, must find each of them.
"""

import asyncio
import itertools
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import psycopg
import pytest

from gatepass.base.database import Database
from tests import factory
from tests.faults.gates import wait_for
from tests.faults.history_checker import faults
from tests.faults.http_client import Connection, connections
from tests.faults.recording_gates import Recorder, Venue, open_venue, tables
from tests.faults.records import Exchange, ScanRequest
from tests.faults.test_concurrency import MUTANTS, SQL, Mutant
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, wait_until_ready
from tests.size import seed_of_run, sized
from tests.warm.processes import launch

SECONDS = sized(short=20, full=60)
PROCESSES = 8
ORGANIZATIONS = 3
# Each has a connection to two processes.
GATES = 64
# Few cards at a time, each shown often, so that almost every first activation is a race.
CARDS = 4
SCANS_PER_CARD = 8
# Enough for 8,000 scans a second.
TICKETS = 20_000
MUTANT_SECONDS, MUTANT_ROUNDS = 3, 5
# The next scan of a gate, and how often: most scans have no idempotency key, as from an old client.
KINDS = {"alone": 45, "with a key": 20, "duplicates": 15, "retry": 10, "another body": 5, "another body at once": 5}


@dataclass
class ScanGenerator:
    """The scans of one organization: a few cards are shown many times, then the next come."""

    venue: Venue
    dice: random.Random
    cards: list[str]
    fresh: Iterator[str]
    shown: Iterator[int] = field(default_factory=itertools.count)
    with_key: deque[ScanRequest] = field(default_factory=lambda: deque[ScanRequest](maxlen=50))

    @classmethod
    def of(cls, venue: Venue, dice: random.Random) -> "ScanGenerator":
        return cls(venue, dice, venue.numbers[:CARDS], iter(venue.numbers[CARDS:]))

    def next_scan(self, gate: str, *, with_key: bool) -> ScanRequest:
        n, way = next(self.shown), self.dice.choice(("card_number", "token"))
        if n % SCANS_PER_CARD == 0:
            self.cards.pop(self.dice.randrange(CARDS))
            self.cards.append(next(self.fresh))
        ticket_key = self.venue.ticket_key(self.dice.choice(self.cards))
        request = ScanRequest(ticket_key, gate, f"scanner of {n}", f"retry of {n}" if with_key else None, way)
        if with_key:
            self.with_key.append(request)
        return request

    def earlier_scan(self, gate: str) -> ScanRequest:
        return self.dice.choice(self.with_key) if self.with_key else self.next_scan(gate, with_key=True)


@dataclass
class Gate:
    """A gate with two scanners, each connected to another process."""

    name: str
    scanners: tuple[tuple[int, Connection], tuple[int, Connection]]
    recorder: Recorder

    async def scan_until(self, generators: Sequence[ScanGenerator], dice: random.Random, until: float) -> None:
        while time.monotonic() < until:
            generator = dice.choice(generators)
            (kind,) = dice.choices(list(KINDS), list(KINDS.values()))
            scans = self._scans(generator, kind)
            scanners = self.scanners if len(scans) == 2 else [dice.choice(self.scanners)]
            sent = zip(scanners, scans, strict=True)
            await asyncio.gather(
                *(
                    self.recorder.scan(connection, generator.venue, request, process)
                    for (process, connection), request in sent
                )
            )

    def _scans(self, generator: ScanGenerator, kind: str) -> list[ScanRequest]:
        match kind:
            case "duplicates":
                return [generator.next_scan(self.name, with_key=True)] * 2
            case "retry":
                return [generator.earlier_scan(self.name)]
            case "another body":
                return [replace(generator.earlier_scan(self.name), gate="elsewhere")]
            case "another body at once":
                request = generator.next_scan(self.name, with_key=True)
                return [request, replace(request, gate="elsewhere")]
            case _:
                return [generator.next_scan(self.name, with_key=kind == "with a key")]


@dataclass
class Deployment:
    """A database and the processes that serve from it."""

    url: str
    db: Database
    servers: tuple[GatepassProcess, ...]
    seeds: Iterator[int] = field(default_factory=lambda: itertools.count(seed_of_run()))

    async def run(self, seconds: float, tickets: int) -> tuple[list[Venue], Recorder]:
        seed = next(self.seeds)
        dice, recorder = random.Random(seed), Recorder()
        print(f"\nseed {seed}", end=", ")
        venues = [await open_venue(await factory.tenant(self.db), tickets) for _ in range(ORGANIZATIONS)]
        generators = [ScanGenerator.of(venue, dice) for venue in venues]
        async with connections(self.servers, venues[0].key, 2 * GATES) as opened:
            until = time.monotonic() + seconds
            gates = [Gate(f"gate {n}", _scanners(opened, n), recorder) for n in range(GATES)]
            await asyncio.gather(*(gate.scan_until(generators, dice, until) for gate in gates))
        return venues, recorder

    def install(self, sql: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.encode())

    def query(self, sql: str) -> list[int]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return [row[0] for row in connection.execute(sql.encode())]

    async def deadlocks(self) -> int:
        """The number of deadlocks. A session reports its own when it ends, so all sessions are ended."""
        ended = set(self.query(END_SESSIONS))

        async def are_gone() -> bool:
            return not ended & set(self.query(SESSIONS))

        await wait_for(are_gone)
        return self.query(DEADLOCKS)[0]


DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatepass api'"
# Materialized, because PostgreSQL may otherwise end a session before it has looked at its name.
END_SESSIONS = f"WITH api AS MATERIALIZED ({SESSIONS}) SELECT pid FROM api WHERE pg_terminate_backend(pid)"


def _scanners(opened: list[Connection], n: int) -> tuple[tuple[int, Connection], tuple[int, Connection]]:
    """Two connections to different processes, in changing pairs; no two gates share one."""
    one, block = n % PROCESSES, n // PROCESSES
    other = (one + 1 + block % (PROCESSES - 1)) % PROCESSES
    return (one, opened[n]), (other, opened[GATES + block * PROCESSES + other])


@pytest.fixture(scope="module")
async def deployment(cluster: Cluster, settings_env: dict[str, str]) -> AsyncGenerator[Deployment]:
    url = cluster.create_migrated("gatepass_history")
    environment = {**settings_env, "GATEPASS_DATABASE_URL": url, "GATEPASS_LOG_LEVEL": "warning"}
    servers = tuple(launch(environment, free_port()) for _ in range(PROCESSES))
    db = factory.database(url, deadline=60)
    try:
        for server in servers:
            await asyncio.to_thread(wait_until_ready, server)
        yield Deployment(url, db, servers)
    finally:
        for server in servers:
            server.process.terminate()
        for server in servers:
            server.stop()
        await db.close()


async def test_every_answer_can_be_explained(deployment: Deployment) -> None:
    before = await deployment.deadlocks()
    venues, recorder = await deployment.run(SECONDS, TICKETS)
    races = count_races(recorder.exchanges)
    print(recorder.summary(), f", races between processes {races}", sep="")
    rows = await tables(venues, recorder.exchanges)
    assert faults(recorder.exchanges, rows)[:20] == []
    assert await deployment.deadlocks() == before
    unsettled = [one for one in recorder.exchanges if not one.is_definite()]
    recorded = {scan.id for scan in rows.scans}
    assert [one for one in unsettled if not is_shed(one, recorded)][:20] == [], "and no process was killed"
    assert len(unsettled) <= len(recorder.exchanges) / 1000, "a busy machine may shed a scan, not many"
    assert {one.process for one in activations(recorder.exchanges)} == set(range(PROCESSES))
    assert races > SECONDS, "too few races to prove anything"
    assert [line for server in deployment.servers for line in server.lines if "unhandled" in line] == []


def is_shed(one: Exchange, recorded: set[UUID]) -> bool:
    """Refused for want of a connection, with nothing done: a definite answer, though its status is that of unknown."""
    return one.answer is not None and one.answer.verdict == "overloaded" and one.answer.request_id not in recorded


def activations(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [one for one in exchanges if one.answer and one.answer.status == 200 and not one.answer.replayed]


def count_races(exchanges: Sequence[Exchange]) -> int:
    """The number of tickets that another process scanned while the winner was under way."""
    winners = {one.request.ticket_key: one for one in activations(exchanges)}
    raced = {
        one.request.ticket_key
        for one in exchanges
        if (winner := winners.get(one.request.ticket_key)) is not None
        and one.process != winner.process
        and one.started < winner.ended
        and winner.started < one.ended
    }
    return len(raced)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
async def test_a_mutant_is_found(deployment: Deployment, mutant: Mutant) -> None:
    deployment.install(mutant.sql())
    try:
        for _ in range(MUTANT_ROUNDS):
            venues, recorder = await deployment.run(MUTANT_SECONDS, TICKETS // 10)
            if found := faults(recorder.exchanges, await tables(venues, recorder.exchanges)):
                print(f"{len(found)} faults, such as {found[0][:200]}")
                return
        pytest.fail(f"no rule noticed that {mutant.name}")
    finally:
        deployment.install(SQL)
