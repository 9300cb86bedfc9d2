"""Eight processes, a minute of gates that fight over few cards: all that was told can be explained one at a time.

The cards are renewed while it runs, so that first activations are raced for all the time. The mutants at the end
are the negative control: the same fight, for some seconds, must find each of them out.
"""

import asyncio
import itertools
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.migrations import runner
from tests import make
from tests.faults.gates import wait_for
from tests.faults.history import faults
from tests.faults.recorder import Recorder, Venue, open_venue, tables
from tests.faults.records import Asked, Request
from tests.faults.test_concurrency import MUTANTS, SQL, Mutant
from tests.faults.wire import Line, lines
from tests.postgres import Cluster, free_port
from tests.serving import Serving, launch, wait_until_ready
from tests.size import sized

pytestmark = pytest.mark.slow

SECONDS = sized(short=20, full=60)
PROCESSES = 8
ORGANIZATIONS = 3
# Each has a line to two processes.
GATES = 64
# Few cards at a time, each shown often, so that almost every first activation is a race.
CARDS = 4
SCANS_A_CARD = 8
# Enough for 8,000 scans a second.
TICKETS = 20_000
MUTANT_SECONDS, MUTANT_ROUNDS = 3, 5
# What a gate does next, and how often: most scans have no key, as at gates with an old client.
TURNS = {"alone": 45, "with a key": 20, "twins": 15, "again": 10, "another body": 5, "another body at once": 5}


@dataclass
class Crowd:
    """The people of one organization: a few cards are shown over and over, then the next come."""

    venue: Venue
    dice: random.Random
    cards: list[str]
    fresh: Iterator[str]
    shown: Iterator[int] = field(default_factory=itertools.count)
    with_key: deque[Asked] = field(default_factory=lambda: deque[Asked](maxlen=50))

    @classmethod
    def of(cls, venue: Venue, dice: random.Random) -> "Crowd":
        return cls(venue, dice, venue.numbers[:CARDS], iter(venue.numbers[CARDS:]))

    def ask(self, gate: str, *, with_key: bool) -> Asked:
        n, way = next(self.shown), self.dice.choice(("card_number", "token"))
        if n % SCANS_A_CARD == 0:
            self.cards.pop(self.dice.randrange(CARDS))
            self.cards.append(next(self.fresh))
        place = self.venue.place(self.dice.choice(self.cards))
        asked = Asked(place, gate, f"scanner of {n}", f"retry of {n}" if with_key else None, way)
        if with_key:
            self.with_key.append(asked)
        return asked

    def ask_again(self, gate: str) -> Asked:
        return self.dice.choice(self.with_key) if self.with_key else self.ask(gate, with_key=True)


@dataclass
class Gate:
    """Somebody with two scanners, each connected to another process."""

    name: str
    scanners: tuple[tuple[int, Line], tuple[int, Line]]
    recorder: Recorder

    async def take_turns(self, crowds: Sequence[Crowd], dice: random.Random, until: float) -> None:
        while time.monotonic() < until:
            crowd = dice.choice(crowds)
            (turn,) = dice.choices(list(TURNS), list(TURNS.values()))
            wanted = self._wanted(crowd, turn)
            scanners = self.scanners if len(wanted) == 2 else [dice.choice(self.scanners)]
            sent = zip(scanners, wanted, strict=True)
            await asyncio.gather(
                *(self.recorder.scan(line, crowd.venue, asked, process) for (process, line), asked in sent)
            )

    def _wanted(self, crowd: Crowd, turn: str) -> list[Asked]:
        match turn:
            case "twins":
                return [crowd.ask(self.name, with_key=True)] * 2
            case "again":
                return [crowd.ask_again(self.name)]
            case "another body":
                return [replace(crowd.ask_again(self.name), gate="elsewhere")]
            case "another body at once":
                asked = crowd.ask(self.name, with_key=True)
                return [asked, replace(asked, gate="elsewhere")]
            case _:
                return [crowd.ask(self.name, with_key=turn == "with a key")]


@dataclass
class City:
    """A database, the processes that serve from it, and the organizations."""

    url: str
    db: Database
    servings: tuple[Serving, ...]

    async def fight(self, seconds: float, tickets: int) -> tuple[list[Venue], Recorder]:
        seed = random.randrange(1_000_000)
        dice, recorder = random.Random(seed), Recorder()
        print(f"\nseed {seed}", end=", ")
        venues = [await open_venue(await make.house(self.db), tickets) for _ in range(ORGANIZATIONS)]
        crowds = [Crowd.of(venue, dice) for venue in venues]
        async with lines(self.servings, venues[0].key, 2 * GATES) as opened:
            until = time.monotonic() + seconds
            gates = [Gate(f"gate {n}", _scanners(opened, n), recorder) for n in range(GATES)]
            await asyncio.gather(*(gate.take_turns(crowds, dice, until) for gate in gates))
        return venues, recorder

    def install(self, sql: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.encode())

    def ask(self, sql: str) -> list[int]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return [row[0] for row in connection.execute(sql.encode())]

    async def deadlocks(self) -> int:
        """How many there were. A session tells of its own when it ends, so all sessions of the processes do."""
        ended = set(self.ask(END_SESSIONS))

        async def are_gone() -> bool:
            return not ended & set(self.ask(SESSIONS))

        await wait_for(are_gone)
        return self.ask(DEADLOCKS)[0]


DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatepass api'"
# Materialized, for PostgreSQL may otherwise end a session first and ask whose it was later.
END_SESSIONS = f"WITH api AS MATERIALIZED ({SESSIONS}) SELECT pid FROM api WHERE pg_terminate_backend(pid)"


def _scanners(opened: list[Line], n: int) -> tuple[tuple[int, Line], tuple[int, Line]]:
    """Two lines to different processes, in ever new pairs; no two gates share one."""
    one, block = n % PROCESSES, n // PROCESSES
    other = (one + 1 + block % (PROCESSES - 1)) % PROCESSES
    return (one, opened[n]), (other, opened[GATES + block * PROCESSES + other])


@pytest.fixture(scope="module")
async def city(cluster: Cluster, settings_env: dict[str, str]) -> AsyncGenerator[City]:
    url = cluster.create_database("gatepass_history")
    runner.upgrade(url)
    environment = {**settings_env, "GATEPASS_DATABASE_URL": url, "GATEPASS_LOG_LEVEL": "warning"}
    servings = tuple(launch(environment, free_port()) for _ in range(PROCESSES))
    db = Database(url, deadline=60)
    try:
        for serving in servings:
            await asyncio.to_thread(wait_until_ready, serving)
        yield City(url, db, servings)
    finally:
        for serving in servings:
            serving.process.terminate()
        for serving in servings:
            serving.stop()
        await db.close()


async def test_all_that_was_told_can_be_explained(city: City) -> None:
    before = await city.deadlocks()
    venues, recorder = await city.fight(SECONDS, TICKETS)
    races = raced_for(recorder.requests)
    print(recorder.tally(), f", raced for between processes {races}", sep="")
    assert faults(recorder.requests, await tables(venues, recorder.requests))[:20] == []
    assert await city.deadlocks() == before
    assert [one for one in recorder.requests if not one.is_definite()][:20] == [], "and nobody was killed"
    assert {one.process for one in activations(recorder.requests)} == set(range(PROCESSES))
    assert races > SECONDS, "too few races to prove anything"
    assert [line for serving in city.servings for line in serving.lines if "unhandled" in line] == []


def activations(requests: Sequence[Request]) -> list[Request]:
    return [one for one in requests if one.told and one.told.status == 200 and not one.told.replayed]


def raced_for(requests: Sequence[Request]) -> int:
    """How many tickets another process was asked for while the winner was under way."""
    winners = {one.asked.place: one for one in activations(requests)}
    raced = {
        one.asked.place
        for one in requests
        if (winner := winners.get(one.asked.place)) is not None
        and one.process != winner.process
        and one.started < winner.ended
        and winner.started < one.ended
    }
    return len(raced)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
async def test_a_mutant_is_found_out(city: City, mutant: Mutant) -> None:
    city.install(mutant.sql())
    try:
        for _ in range(MUTANT_ROUNDS):
            venues, recorder = await city.fight(MUTANT_SECONDS, TICKETS // 10)
            if found := faults(recorder.requests, await tables(venues, recorder.requests)):
                print(f"{len(found)} faults, such as {found[0][:200]}")
                return
        pytest.fail(f"nobody noticed that {mutant.name}")
    finally:
        city.install(SQL)
