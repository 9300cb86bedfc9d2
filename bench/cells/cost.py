"""The CPU of a scan through the edge: with one cell under load, and with two; the edge's own part apart."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median

from bench import cpu
from bench.cells.stack import BenchCell
from tests.edge.proxy import Edge

CONNECTIONS = 64
# More than a cell does on one core.
MOST_A_SECOND = 8_000
MOST = 1.1


@dataclass
class Cost:
    """Microseconds of a scan in each slice: of the cells' processes and their PostgreSQL, and of the edge."""

    name: str
    cells_us: list[float] = field(default_factory=list[float])
    edge_us: list[float] = field(default_factory=list[float])
    rates: list[float] = field(default_factory=list[float])
    failed: int = 0

    @property
    def cells(self) -> float:
        return median(self.cells_us)

    @property
    def edge(self) -> float:
        return median(self.edge_us)

    @property
    def total(self) -> float:
        return median(a + b for a, b in zip(self.cells_us, self.edge_us, strict=True))

    @property
    def rate(self) -> float:
        return median(self.rates)


Costs = tuple[Cost, Cost, Cost]


def measure(edge: Edge, a: BenchCell, b: BenchCell, *, rounds: int, seconds: float) -> Costs:
    """Slices in turn. "One" is each of the cells: two cores of one machine are not equally busy."""
    costs = Cost("cell a"), Cost("cell b"), Cost("both cells")
    for _ in range(rounds):
        for cost, loaded in zip(costs, ([a], [b], [a, b]), strict=True):
            _slice(edge, loaded, cost, seconds)
    return costs


def _slice(edge: Edge, cells: Sequence[BenchCell], cost: Cost, seconds: float) -> None:
    before = _used(cells), cpu.seconds([edge.process.pid])
    with ThreadPoolExecutor(len(cells)) as callers:
        runs = [callers.submit(cell.scan, edge, seconds, CONNECTIONS, most_a_second=MOST_A_SECOND) for cell in cells]
        slices = [run.result() for run in runs]
    after = _used(cells), cpu.seconds([edge.process.pid])
    done = sum(one.done for one in slices)
    if not done:
        raise AssertionError("No scan was answered: the machine is too busy to measure.")
    cost.cells_us.append((after[0] - before[0]) / done * 1e6)
    cost.edge_us.append((after[1] - before[1]) / done * 1e6)
    cost.rates.append(sum(one.rate for one in slices))
    cost.failed += sum(one.failed for one in slices)


def _used(cells: Sequence[BenchCell]) -> float:
    return sum(cpu.seconds(cell.pids()) + cpu.seconds(cell.cluster.processes()) for cell in cells)


def ratio(costs: Costs) -> float:
    """Two cells / one, the mean of both."""
    a, b, both = costs
    return both.total / ((a.total + b.total) / 2)
