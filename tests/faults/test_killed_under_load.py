"""One of two processes is killed, again and again, under 256 gates that scan with idempotency keys.

A gate without an answer sends the scan to the other process with the same key. At the end every scan has a definite
answer, and the history checker can explain all of them.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field

import pytest

from tests.factory import Tenant
from tests.faults.history_checker import faults
from tests.faults.recording_gates import Recorder, Venue, connect, open_venue, tables
from tests.faults.records import Exchange, ScanRequest
from tests.postgres import free_port
from tests.processes import GatepassProcess, wait_until_ready
from tests.warm.processes import launch

GATES = 256
TICKETS = 10_000
# The kill comes after the n-th answer of the process: the first, under full load, later.
MOMENTS = (1, 150, 400, 777, 1500)
# The gates go on until the other process has answered this often.
ANSWERS_AFTERWARDS = 500
TIMEOUT = 60.0


@dataclass
class ApiProcess:
    """One of the two processes; after a kill another one is started at the same port."""

    number: int
    environment: dict[str, str]
    server: GatepassProcess
    is_up: bool = True
    answers: int = 0
    answered: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def count(self) -> None:
        async with self.answered:
            self.answers += 1
            self.answered.notify_all()

    async def answers_again(self, times: int) -> None:
        wanted = self.answers + times
        async with asyncio.timeout(TIMEOUT), self.answered:
            await self.answered.wait_for(lambda: self.answers >= wanted)

    def kill(self) -> None:
        self.is_up = False
        self.server.kill()

    async def start_again(self) -> None:
        self.server = launch(self.environment, self.server.port)
        await asyncio.to_thread(wait_until_ready, self.server)
        self.is_up = True


@dataclass
class Load:
    """Gates that scan until a round is over. Each card comes twice, so that the second is refused."""

    processes: tuple[ApiProcess, ApiProcess]
    venue: Venue
    recorder: Recorder
    cards: Iterator[str]
    names: Iterator[int] = field(default_factory=itertools.count)
    is_over: bool = False

    async def round(self, victim: ApiProcess, other: ApiProcess, moment: int) -> None:
        """All gates scan; one process is killed; all gates go on at the other."""
        self.is_over = False
        async with asyncio.TaskGroup() as gates:
            for n in range(GATES):
                gates.create_task(self._gate(f"gate {n}", self.processes[n % 2], self.processes[1 - n % 2]))
            await victim.answers_again(moment)
            self.recorder.killed.add(victim.number)
            victim.kill()
            await other.answers_again(ANSWERS_AFTERWARDS)
            self.is_over = True
        await victim.start_again()
        self.recorder.killed.discard(victim.number)

    async def _gate(self, name: str, home: ApiProcess, other: ApiProcess) -> None:
        """Scan at `home` until that is killed, then at `other`, beginning with the scan without an answer."""
        at, connection = home, await connect(home.server, self.venue)
        request = self._ask(name)
        while True:
            one = await self.recorder.scan(connection, self.venue, request, at.number)
            if one.answer is None:
                connection.writer.close()
                at, connection = other, await connect(other.server, self.venue)
            elif one.is_definite():
                await at.count()
                if self.is_over:
                    break
                request = self._ask(name)
        connection.writer.close()

    def _ask(self, gate: str) -> ScanRequest:
        n = next(self.names)
        return ScanRequest(self.venue.ticket_key(next(self.cards)), gate, f"scanner of {n}", f"retry of {n}")


@pytest.fixture
async def processes(settings_env: dict[str, str]) -> AsyncGenerator[tuple[ApiProcess, ApiProcess]]:
    environment = {**settings_env, "GATEPASS_LOG_LEVEL": "warning"}
    opened = tuple(ApiProcess(n, environment, launch(environment, free_port())) for n in range(2))
    try:
        for process in opened:
            await asyncio.to_thread(wait_until_ready, process.server)
        yield opened[0], opened[1]
    finally:
        for process in opened:
            process.server.stop()


async def test_a_retry_at_the_other_process_has_the_same_answer(
    processes: tuple[ApiProcess, ApiProcess], tenant: Tenant
) -> None:
    venue, recorder = await open_venue(tenant, TICKETS), Recorder()
    cards = itertools.chain.from_iterable((number, number) for number in itertools.cycle(venue.numbers))
    load = Load(processes, venue, recorder, cards)
    for n, moment in enumerate(MOMENTS):
        seen = len(recorder.exchanges)
        await load.round(processes[n % 2], processes[1 - n % 2], moment)
        unheard = silent(recorder.exchanges[seen:])
        print(f"\nkilled after {moment} answers: {len(unheard)} not answered, of these", end=" ")
        print(f"{len(unheard - decided_by_retry(recorder.exchanges[seen:]))} were done", end="")
        assert unheard, "the process outlived its work"
    print(f"\n{recorder.summary()}")
    assert faults(recorder.exchanges, await tables([venue], recorder.exchanges))[:20] == []
    answered = {one.request for one in recorder.exchanges if one.is_definite()}
    assert {one.request for one in recorder.exchanges} == answered


def silent(exchanges: list[Exchange]) -> set[ScanRequest]:
    return {one.request for one in exchanges if one.answer is None}


def decided_by_retry(exchanges: list[Exchange]) -> set[ScanRequest]:
    return {one.request for one in exchanges if one.answer and one.is_definite() and not one.answer.replayed}
