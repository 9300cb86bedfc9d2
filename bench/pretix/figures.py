"""The figures of two systems, and their ratios."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from rich.console import Console

from bench import cpu
from bench.measure import Slice
from bench.report import Ratio, empty_table

WANTED = 150.0


@dataclass
class CostedSlice:
    """One slice, and the CPU milliseconds a scan of each part of the system."""

    scans: Slice
    cpu_ms: dict[str, float]

    @property
    def all_cpu_ms(self) -> float:
        return sum(self.cpu_ms.values())


@dataclass
class System:
    name: str
    connections: int
    slices: list[CostedSlice] = field(default_factory=list[CostedSlice])

    def median(self, of: Callable[[CostedSlice], float | None]) -> float:
        return median(of(one) or 0 for one in self.slices)

    @property
    def failed(self) -> int:
        return sum(one.scans.failed for one in self.slices)


def costed(work: Callable[[], Slice], parts: Mapping[str, Callable[[], Sequence[int]]]) -> CostedSlice:
    """Run a slice and add its cost; `parts` name the processes, which may change while it runs."""
    before = {name: cpu.seconds(pids()) for name, pids in parts.items()}
    scans = work()
    spent = {name: cpu.seconds(pids()) - before[name] for name, pids in parts.items()}
    return CostedSlice(scans, {name: seconds / max(scans.done, 1) * 1000 for name, seconds in spent.items()})


@dataclass
class Comparison:
    """A ratio of the medians, with the lowest and the highest of the rounds."""

    ratio: Ratio
    lowest: float
    highest: float


def compare(peer: System, ours: System) -> list[Comparison]:
    return [
        _compared("scans a second, Gatepass / pretix", ours, peer, lambda one: one.scans.rate),
        _compared("CPU time a scan, pretix / Gatepass", peer, ours, lambda one: one.all_cpu_ms),
    ]


def _compared(name: str, above: System, below: System, of: Callable[[CostedSlice], float]) -> Comparison:
    rounds = [of(one) / of(other) for one, other in zip(above.slices, below.slices, strict=True)]
    return Comparison(Ratio(name, above.median(of) / below.median(of), WANTED), min(rounds), max(rounds))


def table(console: Console, systems: Sequence[System], compared: Sequence[Comparison]) -> None:
    shown = empty_table(
        "medians over the rounds; CPU is that of all processes, a scan",
        *("system", "connections", "scans", "a second", "p50 ms", "p99 ms", "CPU ms"),
    )
    for system in systems:
        shown.add_row(
            system.name,
            str(system.connections),
            f"{sum(one.scans.done for one in system.slices):,}",
            f"{system.median(lambda one: one.scans.rate):,.1f}",
            f"{system.median(lambda one: one.scans.p50_us) / 1000:,.1f}",
            f"{system.median(lambda one: one.scans.p99_us) / 1000:,.1f}",
            f"{system.median(lambda one: one.all_cpu_ms):,.3f}",
        )
    console.print(shown)
    for system in systems:
        parts = ", ".join(f"{part} {_part(system, part):,.3f}" for part in system.slices[0].cpu_ms)
        console.print(f"CPU ms a scan, {system.name}: {parts}", highlight=False)
    for one in compared:
        ratio = one.ratio
        colour = "green" if ratio.reaches() else "red"
        span = f"{one.lowest:,.0f} to {one.highest:,.0f} in the rounds"
        console.print(f"[{colour}]{ratio.name}: {ratio.value:,.0f} (wanted ≥ {ratio.wanted:,.0f}; {span})")


def _part(system: System, part: str) -> float:
    return system.median(lambda one: one.cpu_ms[part])
