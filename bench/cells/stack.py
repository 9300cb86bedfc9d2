"""Two cells behind the edge, each with a PostgreSQL and processes of its own, and each on a core of its own.

On a machine with two cores an overloaded cell would take the other's CPU. Two cells of an operator are two machines, so
here each is pinned to one core, with its PostgreSQL and its callers. The edge runs on both: it is what cells share.
"""

import os
import signal
import time
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench import dataset
from bench.cells.patroni import patroni_cluster
from bench.measure import Slice, wrk
from bench.stack import cluster_with
from gatepass.base.encryption import new_key
from gatepass.base.settings import BASE_PATH
from gatepass.migrations import runner
from tests.edge.proxy import Edge, start_edge
from tests.postgres import free_port
from tests.processes import GatepassProcess, launch, page_of, wait_until_ready

# Two clusters fit into the memory of a small machine.
BUFFERS = {"shared_buffers": "256MB", "max_wal_size": "8GB"}
POSTGRES = 18
SERVED_WITHIN = 60.0


class Postgres(Protocol):
    """What runs the database of a cell."""

    def processes(self) -> list[int]: ...

    def signal(self, number: signal.Signals) -> list[int]: ...


@dataclass
class BenchCell:
    letter: str
    core: int
    cluster: Postgres
    environment: dict[str, str]
    data: dataset.Dataset
    ports: list[int]
    served: list[GatepassProcess] = field(default_factory=list[GatepassProcess])
    next_ticket: int = 0

    def start(self) -> None:
        """Start the processes and wait until they are ready."""
        self.served = [launch(self.environment, port, "--only", "api") for port in self.ports]
        for process in self.served:
            pin([process.process.pid], self.core)
        for process in self.served:
            wait_until_ready(process)

    def signal(self, number: signal.Signals) -> None:
        for process in self.served:
            process.process.send_signal(number)

    def kill(self) -> None:
        for process in self.served:
            process.kill()

    def stop(self) -> None:
        for process in self.served:
            if process.is_alive():
                process.stop()

    def pids(self) -> list[int]:
        return [process.process.pid for process in self.served]

    def scan(self, edge: Edge, seconds: float, connections: int, *, most_a_second: int, pause_ms: int = 0) -> Slice:
        """Scan tickets that were not scanned before, through the edge."""
        first, share = self.next_ticket, int(seconds * most_a_second)
        self.next_ticket += share
        if self.next_ticket > self.data.tickets:
            raise AssertionError("The cell has no tickets left: load more.")
        return wrk(
            [edge], self.data.plan, first, seconds, connections, "card",
            tickets_a_second=most_a_second, pause_ms=pause_ms, core=self.core,
        )  # fmt: skip

    def read(self, edge: Edge, seconds: float, connections: int, *, pause_ms: int = 0) -> Slice:
        """Ask for the list of events, through the edge: the dearest call for a process."""
        return wrk(
            [edge], self.data.plan, 0, seconds, connections, "events", tickets_a_second=connections,
            pause_ms=pause_ms, core=self.core,
        )  # fmt: skip

    def wait_until_served(self, edge: Edge) -> None:
        """Until the edge has found it, so that slices begin alike."""
        key = self.data.plan.open().readline().split()[0]
        deadline, answered = time.monotonic() + SERVED_WITHIN, 0
        while answered < 3:
            status, text = page_of(f"{edge.url}{BASE_PATH}/events", SERVED_WITHIN, Authorization=f"Bearer {key}")
            answered = answered + 1 if status == 200 else 0
            if time.monotonic() > deadline:
                raise AssertionError(f"Cell {self.letter} is not served: {text}")
            if not answered:
                time.sleep(0.05)


def pin(pids: Iterable[int], core: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # one that has ended meanwhile
            os.sched_setaffinity(pid, {core})


@contextmanager
def two_cells(folder: Path, tickets: int, *, patroni: bool) -> Generator[tuple[Edge, BenchCell, BenchCell]]:
    """Each on a PostgreSQL of its own, or on three machines with Patroni."""
    with ExitStack() as stack:
        a, b = (_cell(stack, folder, letter, core, tickets, patroni=patroni) for core, letter in enumerate("ab"))
        edge = start_edge(folder, free_port(), {"a": a.ports, "b": b.ports})
        stack.callback(edge.stop)
        for cell in (a, b):
            cell.wait_until_served(edge)
        yield edge, a, b


def _cell(stack: ExitStack, folder: Path, letter: str, core: int, tickets: int, *, patroni: bool) -> BenchCell:
    cluster, url = _postgres_of_three(stack) if patroni else _postgres(stack)
    own = folder / letter
    own.mkdir()
    data = dataset.load(url, own, tickets, 1, cell=letter)
    pin(cluster.processes(), core)
    environment = {
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_ENCRYPTION_KEYS": new_key(),
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "error",
        "GATEPASS_CELL": letter,
    }
    cell = BenchCell(letter, core, cluster, environment, data, [free_port()])
    stack.callback(cell.stop)
    cell.start()
    return cell


def _postgres(stack: ExitStack) -> tuple[Postgres, str]:
    cluster = stack.enter_context(cluster_with(POSTGRES, **BUFFERS))
    url = cluster.create_database("bench")
    runner.upgrade(url)
    return cluster, url


def _postgres_of_three(stack: ExitStack) -> tuple[Postgres, str]:
    cluster = stack.enter_context(patroni_cluster())
    return cluster, cluster.url
