"""The figures of two systems, and what one is to the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from rich.console import Console

from bench import cpu
from bench.measure import Slice
from bench.report import Ratio, empty_table

WANTED = 150.0


@dataclass
class Turn:
    """One slice, and the CPU milliseconds a scan that each part of the system took for it."""

    scans: Slice
    cpu_ms: dict[str, float]

    @property
    def all_cpu_ms(self) -> float:
        return sum(self.cpu_ms.values())


@dataclass
class System:
    name: str
    connections: int
    turns: list[Turn] = field(default_factory=list[Turn])

    def median(self, of: Callable[[Turn], float | None]) -> float:
        return median(of(turn) or 0 for turn in self.turns)

    @property
    def failed(self) -> int:
        return sum(turn.scans.failed for turn in self.turns)


def costed(work: Callable[[], Slice], parts: Mapping[str, Callable[[], Sequence[int]]]) -> Turn:
    """Run a slice and add what it cost; `parts` name the processes, which may change while it runs."""
    before = {name: cpu.seconds(pids()) for name, pids in parts.items()}
    scans = work()
    spent = {name: cpu.seconds(pids()) - before[name] for name, pids in parts.items()}
    return Turn(scans, {name: seconds / max(scans.done, 1) * 1000 for name, seconds in spent.items()})


@dataclass
class Compared:
    """A ratio of the medians, and between what it lay from round to round."""

    ratio: Ratio
    lowest: float
    highest: float


def compare(peer: System, ours: System) -> list[Compared]:
    return [
        _compared("scans a second, Gatepass / pretix", ours, peer, lambda turn: turn.scans.rate),
        _compared("CPU time a scan, pretix / Gatepass", peer, ours, lambda turn: turn.all_cpu_ms),
    ]


def _compared(name: str, above: System, below: System, of: Callable[[Turn], float]) -> Compared:
    rounds = [of(one) / of(other) for one, other in zip(above.turns, below.turns, strict=True)]
    return Compared(Ratio(name, above.median(of) / below.median(of), WANTED), min(rounds), max(rounds))


def table(console: Console, systems: Sequence[System], compared: Sequence[Compared]) -> None:
    shown = empty_table(
        "medians over the rounds; CPU is that of all processes, a scan",
        *("system", "connections", "scans", "a second", "p50 ms", "p99 ms", "CPU ms"),
    )
    for system in systems:
        shown.add_row(
            system.name,
            str(system.connections),
            f"{sum(turn.scans.done for turn in system.turns):,}",
            f"{system.median(lambda turn: turn.scans.rate):,.1f}",
            f"{system.median(lambda turn: turn.scans.p50_us) / 1000:,.1f}",
            f"{system.median(lambda turn: turn.scans.p99_us) / 1000:,.1f}",
            f"{system.median(lambda turn: turn.all_cpu_ms):,.3f}",
        )
    console.print(shown)
    for system in systems:
        parts = ", ".join(f"{part} {_part(system, part):,.3f}" for part in system.turns[0].cpu_ms)
        console.print(f"CPU ms a scan, {system.name}: {parts}", highlight=False)
    for one in compared:
        ratio = one.ratio
        colour = "green" if ratio.reaches() else "red"
        span = f"{one.lowest:,.0f} to {one.highest:,.0f} in the rounds"
        console.print(f"[{colour}]{ratio.name}: {ratio.value:,.0f} (wanted ≥ {ratio.wanted:,.0f}; {span})")


def _part(system: System, part: str) -> float:
    return system.median(lambda turn: turn.cpu_ms[part])
