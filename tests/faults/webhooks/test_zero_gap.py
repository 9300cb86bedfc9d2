"""Nothing falls between: processes are killed at every point between a commit and its record, again and again.

Gates scan with retry keys through two API processes; workers deliver to a receiver that writes down all it gets. At
each failpoint the process that is there gets SIGKILL, another takes its place, and so on. In the end every committed
activation has arrived; what arrived again was in the hands of somebody who was killed.

GATEPASS_FULL=1 is the full form: at least 200 kills, at the product's own times.
"""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from tests.faults.gates import wait_for
from tests.faults.history import faults
from tests.faults.recorder import Recorder, Venue, open_venue, tables
from tests.faults.records import Asked
from tests.faults.webhooks import ledger
from tests.faults.webhooks.doomed import Failpoint, Pace
from tests.faults.webhooks.ledger import Ledger
from tests.faults.webhooks.place import Doomed, Place, opened
from tests.faults.webhooks.witness import DIES_WITHIN, Barrier
from tests.faults.wire import Line
from tests.postgres import Cluster, free_port
from tests.receivers import ReceiverProcess, receiver_process
from tests.size import FULL, sized

pytestmark = pytest.mark.slow

# At each of the seven failpoints.
KILLS = sized(short=5, full=30)
# What was in hand at the last kill is sent when its claim lapses; in short, that is sooner.
PACE = sized(short=Pace(lease=timedelta(seconds=16), deadline=3.0), full=Pace())
TICKETS = sized(short=10_000, full=60_000)
GATES = 10
# People walk through a gate one after the other.
STEP = 0.05
ENDPOINTS = 2
# So long does the receiver think, so that there is a time between sending and being answered.
THINKS = "0.02"
# The n-th time that a process passes its failpoint is its last; n is at most this.
LATEST = {
    Failpoint.COMMITTED: 20,
    Failpoint.CLAIMED: 20,
    Failpoint.CONNECTED: 4,
    Failpoint.SENT: 40,
    Failpoint.ANSWERED: 40,
    Failpoint.RECORDING: 20,
    Failpoint.ANYWHERE: 100,
}
STANDING, DOOMED = 0, 1


@dataclass
class Gates:
    """They scan until it is over, half of them first at the process that is killed; each scan until it is decided."""

    venue: Venue
    ports: tuple[int, int]
    recorder: Recorder = field(default_factory=lambda: Recorder(killed={DOOMED}))
    names: Iterator[int] = field(default_factory=itertools.count)
    is_over: bool = False

    async def gate(self, n: int) -> None:
        lines: dict[int, Line] = {}
        try:
            while not self.is_over:
                name = next(self.names)
                asked = Asked(self.venue.place(self.venue.numbers[name]), f"gate {n}", f"scanner {n}", f"scan {name}")
                await self._scan_until_decided(asked, lines, n % 2)
                await asyncio.sleep(STEP)
        finally:
            for line in lines.values():
                line.writer.close()

    async def _scan_until_decided(self, asked: Asked, lines: dict[int, Line], home: int) -> None:
        for process in itertools.cycle((home, 1 - home)):
            try:
                if process not in lines:
                    opened = await asyncio.open_connection("127.0.0.1", self.ports[process])
                    lines[process] = Line(*opened, self.venue.key)
            except ConnectionError:  # killed, and the next one does not listen yet
                continue
            one = await self.recorder.scan(lines[process], self.venue, asked, process)
            if one.is_definite():
                return
            if one.told is None:
                lines.pop(process).writer.close()


@dataclass
class Killer:
    """Starts processes and sees them die."""

    place: Place
    barrier: Barrier
    port: int
    dice: random.Random
    kills: dict[Failpoint, list[str]] = field(default_factory=lambda: {point: [] for point in Failpoint})

    async def kill_all(self) -> None:
        async with asyncio.TaskGroup() as stations:
            for failpoint in Failpoint:
                stations.create_task(self._kill_again_and_again(failpoint))

    async def _kill_again_and_again(self, failpoint: Failpoint) -> None:
        for n in range(KILLS):
            countdown = self.dice.randint(1, LATEST[failpoint])
            match failpoint:
                case Failpoint.COMMITTED:
                    doomed = await self.place.doom_api(failpoint, countdown, self.port)
                case Failpoint.RECORDING:
                    doomed = await self._kill_in_record(countdown, commits=n % 2 == 0)
                case Failpoint.ANYWHERE:
                    doomed = await self._kill_after(countdown)
                case _:
                    doomed = await self.place.doom_worker(failpoint, countdown, PACE)
            await doomed.died()
            self.kills[failpoint].append(doomed.name)

    async def _kill_in_record(self, countdown: int, *, commits: bool) -> Doomed:
        """Kill it while PostgreSQL executes its record, which is then finished without it, or undone."""
        doomed = await self.place.doom_worker(Failpoint.RECORDING, countdown, PACE, stops_at="attempt")
        pid = await self.barrier.somebody_waits()
        doomed.kill()
        await doomed.died()
        await (self.barrier.let_go(pid) if commits else self.barrier.break_off(pid))
        return doomed

    async def _kill_after(self, claims: int) -> Doomed:
        """Kill it from outside, wherever it happens to be after so many claims."""
        doomed = await self.place.doom_worker(Failpoint.ANYWHERE, 0, PACE)

        async def has_claimed() -> bool:
            made = await self.place.value("SELECT count(*) FROM witnessed_claim WHERE worker = $1", doomed.name)
            return made >= claims

        await wait_for(has_claimed, within=DIES_WITHIN)
        doomed.kill()
        return doomed

    def killed(self) -> set[str]:
        return {name for names in self.kills.values() for name in names}


async def test_every_committed_activation_arrives(syncing_cluster: Cluster, tmp_path: Path) -> None:
    began = time.monotonic()
    async with opened(syncing_cluster, "zero_gap", tmp_path) as place, Barrier.closed(place.url) as barrier:
        with receiver_process(log=tmp_path / "received", options=["--delay", THINKS]) as receiver:
            for _ in range(ENDPOINTS):
                await place.house.endpoint(receiver.url)
            place.work("standing")
            standing, doomed_port = await place.serve(), free_port()
            gates = Gates(await open_venue(place.house, TICKETS), (standing.port, doomed_port))
            killer = Killer(place, barrier, doomed_port, random.Random(4))
            await scan_and_kill(gates, killer)
            await place.drained(within=PACE.lease.total_seconds() + 30)
            found = await settle(place, receiver, killer.killed())
        print(summary(found, killer, gates.recorder, time.monotonic() - began))
        assert found.complaints()[:20] == []
        assert faults(gates.recorder.requests, await tables([gates.venue], gates.recorder.requests))[:20] == []
        assert_all_were_hit(killer, found, gates.recorder)
        assert place.errors() == []


async def scan_and_kill(gates: Gates, killer: Killer) -> None:
    async with asyncio.TaskGroup() as scanning:
        for n in range(GATES):
            scanning.create_task(gates.gate(n))
        try:
            await killer.kill_all()
        finally:
            gates.is_over = True


async def settle(place: Place, receiver: ReceiverProcess, killed: set[str]) -> Ledger:
    return await ledger.read(place.db, place.house.id, receiver.received(), killed)


def assert_all_were_hit(killer: Killer, found: Ledger, recorder: Recorder) -> None:
    """Each kill was where it was meant to be: its traces are there."""
    assert {len(names) for names in killer.kills.values()} == {KILLS}
    assert not FULL or len(killer.killed()) >= 200
    held, sent = Counter(found.in_flight.values()), found.sent_in_vain
    for failpoint in (Failpoint.CLAIMED, Failpoint.CONNECTED, Failpoint.SENT, Failpoint.ANSWERED):
        assert all(held[name] for name in killer.kills[failpoint]), failpoint
    for failpoint in (Failpoint.SENT, Failpoint.ANSWERED):
        assert all(sent[name] for name in killer.kills[failpoint]), failpoint
    undone = killer.kills[Failpoint.RECORDING][1::2]
    assert all(sent[name] for name in undone), "a record that was broken off left something behind"
    # Each time the API process died, at least one gate learned only from its retry that the scan had been done.
    assert sum(one.told.replayed for one in recorder.requests if one.told) >= len(killer.kills[Failpoint.COMMITTED])


def summary(found: Ledger, killer: Killer, recorder: Recorder, seconds: float) -> str:
    again = len(list(found.extra()))
    kills = ", ".join(f"{point} {len(names)}" for point, names in killer.kills.items())
    return (
        f"\n{len(killer.killed())} kills ({kills}); {recorder.tally()}; {len(found.activations)} activations,"
        f" {len(found.deliveries)} deliveries, {len(found.received)} received, {again} of them again,"
        f" {len(found.in_flight)} in flight at the kills; {seconds:.0f} s"
    )
