"""Calls of an earlier commit, by its own code and its own bench, in turn with those of today.

python -m bench.against --commit f5bf142 --rounds 3
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.console import wide_console
from bench.earlier import bench_of
from bench.measure import Series, Slice
from bench.report import empty_table, plot_pairs
from tests.drills.upgrade.versions import TODAY, Version, exported

# The last commit before reads were gathered as scans are, and a scan and its entry of the request log were one row.
BEFORE = "f5bf142"
# Parts of the names of scenarios that both have.
SCENARIOS = "8 clients,connection,subscribed,token,verify,events"


def measured(version: Version, options: argparse.Namespace, out: Path) -> list[Series]:
    """One round of its bench."""
    sizes = ("--tickets", str(options.tickets), "--seconds", str(options.seconds), "--processes", "2")
    shown = bench_of(version, "bench.scan", "--rounds", "1", "--only", options.only, *sizes, "--out", str(out))
    assert (out / "scan.json").exists(), f"{version.name}: {shown}"
    series = json.loads((out / "scan.json").read_text())["series"]
    found = [Series(one["name"], [Slice(**part) for part in one["slices"]]) for one in series]
    assert not any(part.failed for one in found for part in one.slices), f"{version.name}: {shown}"
    return found


def compare(options: argparse.Namespace) -> dict[str, tuple[Series, Series]]:
    """By scenario: the slices of before and of today, a round of each in turn."""
    found: dict[str, tuple[Series, Series]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = exported(options.commit, options.commit, folder, "gatepass", "bench", "tests")
        for turn in range(options.rounds):
            for index, version in enumerate((before, TODAY)):
                for one in measured(version, options, folder / f"{turn}-{index}"):
                    found.setdefault(one.name, (Series("before"), Series("today")))[index].slices.extend(one.slices)
    return {name: pair for name, pair in found.items() if all(one.slices for one in pair)}


def cpu_us(one: Slice) -> float:
    return one.python_us + one.postgres_us


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default=BEFORE)
    parser.add_argument("--only", default=SCENARIOS, help="parts of the names of scenarios of `bench.scan`")
    parser.add_argument("--tickets", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    compared = compare(options)
    shown = empty_table(
        f"before ({options.commit}) and today, medians over the rounds",
        *("scenario", "a second", "today", "Python µs", "today", "PostgreSQL µs", "today", "WAL bytes", "today"),
    )
    figures: tuple[Callable[[Slice], float], ...] = (
        lambda one: one.rate,
        lambda one: one.python_us,
        lambda one: one.postgres_us,
        lambda one: one.wal_bytes,
    )
    for name, pair in compared.items():
        shown.add_row(name, *(f"{one.figure(of) or 0:,.0f}" for of in figures for one in pair))
    wide_console().print(shown)
    costs = {
        name: (before.figure(cpu_us) or 0, today.figure(cpu_us) or 0)
        for name, (before, today) in compared.items()
        if not name.startswith("bare")
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "against.svg").write_text(plot_pairs("core-seconds for a million calls", costs))


if __name__ == "__main__":
    main()
