"""No message is lost: processes are killed many times at every point between a commit and its record.

Gates scan with idempotency keys through two API processes; workers deliver to a receiver that logs every message. At
each failpoint a process gets SIGKILL and another one is started. At the end every committed activation has arrived;
every message that arrived twice was in flight at a kill.

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

from tests.faults.gates import wait_for
from tests.faults.history_checker import faults
from tests.faults.http_client import Connection
from tests.faults.recording_gates import Recorder, Venue, open_venue, tables
from tests.faults.records import ScanRequest
from tests.faults.webhooks import ledger
from tests.faults.webhooks.claim_log import DIES_WITHIN, Barrier
from tests.faults.webhooks.crash_points import Failpoint, Pace
from tests.faults.webhooks.ledger import Ledger
from tests.faults.webhooks.sandboxed_stack import CrashingProcess, Stack, opened
from tests.postgres import Cluster, free_port
from tests.receivers import ReceiverProcess, receiver_process
from tests.size import FULL, sized

# At each of the seven failpoints.
KILLS = sized(short=5, full=30)
# Deliveries in flight at the last kill are sent when their claims lapse; the short form has a shorter lease.
PACE = sized(short=Pace(lease=timedelta(seconds=16), deadline=3.0), full=Pace())
TICKETS = sized(short=10_000, full=60_000)
GATES = 10
# Seconds between two scans at a gate.
PAUSE = 0.05
ENDPOINTS = 2
# Seconds until the receiver answers, so that a kill can come between a message and its answer.
DELAY = "0.02"
# A process is killed when it passes its failpoint the n-th time; n is at most this.
LATEST = {
    Failpoint.COMMITTED: 20,
    Failpoint.CLAIMED: 20,
    Failpoint.CONNECTED: 4,
    Failpoint.SENT: 40,
    Failpoint.ANSWERED: 40,
    Failpoint.RECORDING: 20,
    Failpoint.ANYWHERE: 100,
}
STEADY, CRASHING = 0, 1


@dataclass
class Gates:
    """They scan until the end, half of them first at the process that is killed; each scan until it is decided."""

    venue: Venue
    ports: tuple[int, int]
    recorder: Recorder = field(default_factory=lambda: Recorder(killed={CRASHING}))
    names: Iterator[int] = field(default_factory=itertools.count)
    is_over: bool = False

    async def gate(self, n: int) -> None:
        connections: dict[int, Connection] = {}
        try:
            while not self.is_over:
                name = next(self.names)
                request = ScanRequest(
                    self.venue.ticket_key(self.venue.numbers[name]), f"gate {n}", f"scanner {n}", f"scan {name}"
                )
                await self._scan_until_decided(request, connections, n % 2)
                await asyncio.sleep(PAUSE)
        finally:
            for connection in connections.values():
                connection.writer.close()

    async def _scan_until_decided(self, request: ScanRequest, connections: dict[int, Connection], home: int) -> None:
        for process in itertools.cycle((home, 1 - home)):
            try:
                if process not in connections:
                    opened = await asyncio.open_connection("127.0.0.1", self.ports[process])
                    connections[process] = Connection(*opened, self.venue.key)
            except ConnectionError:  # killed, and the next process does not listen yet
                continue
            one = await self.recorder.scan(connections[process], self.venue, request, process)
            if one.is_definite():
                return
            if one.answer is None:
                connections.pop(process).writer.close()


@dataclass
class Killer:
    """Starts processes and kills them, or waits until they crash."""

    stack: Stack
    barrier: Barrier
    port: int
    dice: random.Random
    kills: dict[Failpoint, list[str]] = field(default_factory=lambda: {point: [] for point in Failpoint})

    async def kill_all(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for failpoint in Failpoint:
                tasks.create_task(self._kill_repeatedly(failpoint))

    async def _kill_repeatedly(self, failpoint: Failpoint) -> None:
        for n in range(KILLS):
            countdown = self.dice.randint(1, LATEST[failpoint])
            match failpoint:
                case Failpoint.COMMITTED:
                    crashing = await self.stack.start_crashing_api(failpoint, countdown, self.port)
                case Failpoint.RECORDING:
                    crashing = await self._kill_in_record(countdown, commits=n % 2 == 0)
                case Failpoint.ANYWHERE:
                    crashing = await self._kill_after(countdown)
                case _:
                    crashing = await self.stack.start_crashing_worker(failpoint, countdown, PACE)
            await crashing.died()
            self.kills[failpoint].append(crashing.name)

    async def _kill_in_record(self, countdown: int, *, commits: bool) -> CrashingProcess:
        """Kill it while PostgreSQL executes its record, which is then finished without it, or rolled back."""
        crashing = await self.stack.start_crashing_worker(Failpoint.RECORDING, countdown, PACE, stops_at="attempt")
        pid = await self.barrier.wait_for_arrival()
        crashing.kill()
        await crashing.died()
        await (self.barrier.release(pid) if commits else self.barrier.terminate(pid))
        return crashing

    async def _kill_after(self, claims: int) -> CrashingProcess:
        """Kill it from outside, at any point after this many claims."""
        crashing = await self.stack.start_crashing_worker(Failpoint.ANYWHERE, 0, PACE)

        async def has_claimed() -> bool:
            made = await self.stack.value("SELECT count(*) FROM claim_log WHERE worker = $1", crashing.name)
            return made >= claims

        await wait_for(has_claimed, within=DIES_WITHIN)
        crashing.kill()
        return crashing

    def killed(self) -> set[str]:
        return {name for names in self.kills.values() for name in names}


async def test_every_committed_activation_arrives(syncing_cluster: Cluster, tmp_path: Path) -> None:
    began = time.monotonic()
    async with opened(syncing_cluster, "zero_gap", tmp_path) as stack, Barrier.closed(stack.url) as barrier:
        with receiver_process(log=tmp_path / "received", options=["--delay", DELAY]) as receiver:
            for _ in range(ENDPOINTS):
                await stack.tenant.endpoint(receiver.url)
            stack.work("standing")
            steady, crashing_port = await stack.serve(), free_port()
            gates = Gates(await open_venue(stack.tenant, TICKETS), (steady.port, crashing_port))
            killer = Killer(stack, barrier, crashing_port, random.Random(4))
            await scan_and_kill(gates, killer)
            await stack.drained(within=PACE.lease.total_seconds() + 30)
            found = await read_ledger(stack, receiver, killer.killed())
        print(summary(found, killer, gates.recorder, time.monotonic() - began))
        assert found.faults()[:20] == []
        assert faults(gates.recorder.exchanges, await tables([gates.venue], gates.recorder.exchanges))[:20] == []
        assert_all_were_hit(killer, found, gates.recorder)
        assert stack.errors() == []


async def scan_and_kill(gates: Gates, killer: Killer) -> None:
    async with asyncio.TaskGroup() as scanning:
        for n in range(GATES):
            scanning.create_task(gates.gate(n))
        try:
            await killer.kill_all()
        finally:
            gates.is_over = True


async def read_ledger(stack: Stack, receiver: ReceiverProcess, killed: set[str]) -> Ledger:
    return await ledger.read(stack.db, stack.tenant.id, receiver.received(), killed)


def assert_all_were_hit(killer: Killer, found: Ledger, recorder: Recorder) -> None:
    """Each kill was at its failpoint, as the ledger shows."""
    assert {len(names) for names in killer.kills.values()} == {KILLS}
    assert not FULL or len(killer.killed()) >= 200
    held, sent = Counter(found.in_flight.values()), found.sent_not_recorded
    for failpoint in (Failpoint.CLAIMED, Failpoint.CONNECTED, Failpoint.SENT, Failpoint.ANSWERED):
        assert all(held[name] for name in killer.kills[failpoint]), failpoint
    for failpoint in (Failpoint.SENT, Failpoint.ANSWERED):
        assert all(sent[name] for name in killer.kills[failpoint]), failpoint
    undone = killer.kills[Failpoint.RECORDING][1::2]
    assert all(sent[name] for name in undone), "a record that was rolled back left something behind"
    # Each time the API process was killed, at least one gate learned the outcome of its scan only from a retry.
    assert sum(one.answer.replayed for one in recorder.exchanges if one.answer) >= len(
        killer.kills[Failpoint.COMMITTED]
    )


def summary(found: Ledger, killer: Killer, recorder: Recorder, seconds: float) -> str:
    again = len(list(found.extra()))
    kills = ", ".join(f"{point} {len(names)}" for point, names in killer.kills.items())
    return (
        f"\n{len(killer.killed())} kills ({kills}); {recorder.summary()}; {len(found.activations)} activations,"
        f" {len(found.deliveries)} deliveries, {len(found.received)} received, {again} of them again,"
        f" {len(found.in_flight)} in flight at the kills; {seconds:.0f} s"
    )
