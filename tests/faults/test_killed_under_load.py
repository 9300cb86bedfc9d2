"""One of two processes is killed, again and again, under 256 gates that scan with retry keys.

Who was not answered asks the other process with the same key. In the end everyone has a definite answer, and all
of them can be explained.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field

import pytest

from tests.faults.history import faults
from tests.faults.recorder import Recorder, Venue, connect, open_venue, tables
from tests.faults.records import Asked, Request
from tests.make import House
from tests.postgres import free_port
from tests.serving import Serving, launch, wait_until_ready

pytestmark = pytest.mark.slow

GATES = 256
TICKETS = 10_000
# The kill comes after the n-th answer of the process: the very first, in full flow, later.
MOMENTS = (1, 150, 400, 777, 1500)
# So long do the gates go on at the other one.
ANSWERS_AFTERWARDS = 500
PATIENCE = 30.0


@dataclass
class Door:
    """One of the two processes; when it is killed, another takes its place at the same port."""

    number: int
    environment: dict[str, str]
    serving: Serving
    is_up: bool = True
    answers: int = 0
    answered: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def count(self) -> None:
        async with self.answered:
            self.answers += 1
            self.answered.notify_all()

    async def answers_again(self, times: int) -> None:
        wanted = self.answers + times
        async with asyncio.timeout(PATIENCE), self.answered:
            await self.answered.wait_for(lambda: self.answers >= wanted)

    def kill(self) -> None:
        self.is_up = False
        self.serving.kill()

    async def open_again(self) -> None:
        self.serving = launch(self.environment, self.serving.port)
        await asyncio.to_thread(wait_until_ready, self.serving)
        self.is_up = True


@dataclass
class Load:
    """Gates that scan until a round is over. Each card comes twice, so that the second is refused."""

    doors: tuple[Door, Door]
    venue: Venue
    recorder: Recorder
    cards: Iterator[str]
    names: Iterator[int] = field(default_factory=itertools.count)
    is_over: bool = False

    async def round(self, victim: Door, other: Door, moment: int) -> None:
        """Everyone scans; one process is killed; everyone goes on at the other."""
        self.is_over = False
        async with asyncio.TaskGroup() as gates:
            for n in range(GATES):
                gates.create_task(self._gate(f"gate {n}", self.doors[n % 2], self.doors[1 - n % 2]))
            await victim.answers_again(moment)
            self.recorder.killed.add(victim.number)
            victim.kill()
            await other.answers_again(ANSWERS_AFTERWARDS)
            self.is_over = True
        await victim.open_again()
        self.recorder.killed.discard(victim.number)

    async def _gate(self, name: str, home: Door, next_door: Door) -> None:
        """Scan at home until that is killed, then next door, beginning with what was not answered."""
        at, line = home, await connect(home.serving, self.venue)
        asked = self._ask(name)
        while True:
            one = await self.recorder.scan(line, self.venue, asked, at.number)
            if one.told is None:
                line.writer.close()
                at, line = next_door, await connect(next_door.serving, self.venue)
            elif one.is_definite():
                await at.count()
                if self.is_over:
                    break
                asked = self._ask(name)
        line.writer.close()

    def _ask(self, gate: str) -> Asked:
        n = next(self.names)
        return Asked(self.venue.place(next(self.cards)), gate, f"scanner of {n}", f"retry of {n}")


@pytest.fixture
async def doors(settings_env: dict[str, str]) -> AsyncGenerator[tuple[Door, Door]]:
    environment = {**settings_env, "GATEPASS_LOG_LEVEL": "warning"}
    opened = tuple(Door(n, environment, launch(environment, free_port())) for n in range(2))
    try:
        for door in opened:
            await asyncio.to_thread(wait_until_ready, door.serving)
        yield opened[0], opened[1]
    finally:
        for door in opened:
            door.serving.stop()


async def test_a_retry_at_the_other_process_tells_the_same(doors: tuple[Door, Door], house: House) -> None:
    venue, recorder = await open_venue(house, TICKETS), Recorder()
    cards = itertools.chain.from_iterable((number, number) for number in itertools.cycle(venue.numbers))
    load = Load(doors, venue, recorder, cards)
    for n, moment in enumerate(MOMENTS):
        seen = len(recorder.requests)
        await load.round(doors[n % 2], doors[1 - n % 2], moment)
        unheard = silent(recorder.requests[seen:])
        print(f"\nkilled after {moment} answers: {len(unheard)} not answered, of these", end=" ")
        print(f"{len(unheard - decided_by_retry(recorder.requests[seen:]))} were done", end="")
        assert unheard, "the process outlived its work"
    print(f"\n{recorder.tally()}")
    assert faults(recorder.requests, await tables([venue], recorder.requests))[:20] == []
    answered = {one.asked for one in recorder.requests if one.is_definite()}
    assert {one.asked for one in recorder.requests} == answered


def silent(requests: list[Request]) -> set[Asked]:
    return {one.asked for one in requests if one.told is None}


def decided_by_retry(requests: list[Request]) -> set[Asked]:
    return {one.asked for one in requests if one.told and one.is_definite() and not one.told.replayed}
