"""A fault of cell b, while its callers go on calling: cell a has no error, and is about as fast as alone."""

import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from bench.cells.patroni import PatroniCluster
from bench.cells.stack import BenchCell
from bench.measure import Series, Slice
from tests.edge.proxy import Edge

# Cell a is asked for less than it can do, as a cell is in good times.
CONNECTIONS, PAUSE_MS, MOST_A_SECOND = 8, 20, 500
RATIO, ROOM_MS = 1.5, 20
ALONE = "alone"


@dataclass
class Fault:
    """`harm` is undone when its block ends. Meanwhile b's callers go on, over so many connections."""

    name: str
    harm: Callable[[BenchCell], "Generator[None]"]
    connections: int = 64
    pause_ms: int = 20


def _frozen(cell: BenchCell) -> Generator[None]:
    cell.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cell.signal(signal.SIGCONT)


def _frozen_database(cell: BenchCell) -> Generator[None]:
    cell.cluster.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cell.cluster.signal(signal.SIGCONT)


def _killed(cell: BenchCell) -> Generator[None]:
    cell.kill()
    yield
    cell.start()


def _without_primary(cell: BenchCell) -> Generator[None]:
    assert isinstance(cell.cluster, PatroniCluster)
    with cell.cluster.without_primary():
        yield


def _nothing(_: BenchCell) -> Generator[None]:
    yield


FAULTS = (
    Fault("processes of b frozen", _frozen),
    Fault("PostgreSQL of b frozen", _frozen_database),
    Fault("b overloaded", _nothing, connections=512, pause_ms=0),
    Fault("processes of b killed", _killed),
)
OF_THREE_MACHINES = (*FAULTS, Fault("machine of b's primary dead", _without_primary))


def measure(
    edge: Edge, a: BenchCell, b: BenchCell, faults: Sequence[Fault], *, rounds: int, seconds: float
) -> list[Series]:
    """Slices of cell a in every round: alone, then with each fault of b."""
    alone, *others = series = [Series(name) for name in (ALONE, *(fault.name for fault in faults))]
    for _ in range(rounds):
        alone.slices.append(_calm(edge, a, seconds))
        for fault, one in zip(faults, others, strict=True):
            one.slices.append(_with_fault(edge, a, b, fault, seconds))
            b.wait_until_served(edge)
    return series


def _calm(edge: Edge, a: BenchCell, seconds: float) -> Slice:
    return a.scan(edge, seconds, CONNECTIONS, most_a_second=MOST_A_SECOND, pause_ms=PAUSE_MS)


def _with_fault(edge: Edge, a: BenchCell, b: BenchCell, fault: Fault, seconds: float) -> Slice:
    with contextmanager(fault.harm)(b), ThreadPoolExecutor(1) as other:
        calls = other.submit(b.read, edge, seconds, fault.connections, pause_ms=fault.pause_ms)
        measured = _calm(edge, a, seconds)
        calls.result()
    return measured


def bound_ms(alone: Series) -> float:
    p99 = p99_ms(alone)
    return max(RATIO * p99, p99 + ROOM_MS)


def p99_ms(series: Series) -> float:
    return (series.figure(lambda one: one.p99_us) or 0) / 1e3


def errors(series: Series) -> int:
    return sum(one.failed for one in series.slices)
