"""Cells fail alone: two cells behind the edge, faults of one, and what the other notices; and the CPU of a scan.

python -m bench.cells --rounds 5 --seconds 4 --check           # with the wanted bounds
python -m bench.cells --rounds 1 --seconds 1 --cost-rounds 1   # only whether each scan is answered, as CI runs it
"""

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path

from rich.table import Table

from bench.cells import cost, isolation
from bench.cells.stack import two_cells
from bench.console import wide_console
from bench.measure import Series

RESULTS = Path(__file__).parents[1] / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the faults")
    parser.add_argument("--seconds", type=int, default=4, help="seconds of a slice")
    parser.add_argument("--cost-rounds", type=int, default=5, help="rounds of the CPU of a scan")
    parser.add_argument("--patroni", action="store_true", help="three machines for each cell; only the faults; as root")
    parser.add_argument("--check", action="store_true", help="fail if a bound of time is missed, too")
    parser.add_argument("--width", type=float, default=1.0, help="bounds this many times as wide, on a busy machine")
    options = parser.parse_args()
    faults = isolation.OF_THREE_MACHINES if options.patroni else isolation.FAULTS
    cost_rounds = 0 if options.patroni else options.cost_rounds
    # Cell a has a slice for each fault and one alone, and two for the cost.
    calm = options.rounds * (len(faults) + 1) * isolation.MOST_A_SECOND
    tickets = (calm + cost_rounds * 2 * cost.MOST_A_SECOND) * options.seconds
    # A run that is ended from outside leaves no server behind.
    signal.signal(signal.SIGTERM, _end)
    with (
        tempfile.TemporaryDirectory() as folder,
        two_cells(Path(folder), tickets, patroni=options.patroni) as (edge, a, b),
    ):
        costs = cost.measure(edge, a, b, rounds=cost_rounds, seconds=options.seconds) if cost_rounds else None
        slow = _report_cost(costs, options.width) if costs else []
        series = isolation.measure(edge, a, b, faults, rounds=options.rounds, seconds=options.seconds)
    slow += _report_faults(series, options.width)
    wrong = [f"{one.name}: {one.failed} scans failed" for one in costs or () if one.failed]
    wrong += [f"{one.name}: {isolation.errors(one)} errors" for one in series if isolation.errors(one)]
    wrong += [f"{one.name}: no scan" for one in series if not all(part.done for part in one.slices)]
    RESULTS.mkdir(exist_ok=True)
    figures: dict[str, object] = {
        "faults": {one.name: {"p99_ms": isolation.p99_ms(one), "errors": isolation.errors(one)} for one in series}
    }
    if costs:
        figures["cost_us"] = {one.name: {"cells": one.cells, "edge": one.edge, "a_second": one.rate} for one in costs}
        figures["ratio"] = cost.ratio(costs)
    name = "cells-patroni.json" if options.patroni else "cells.json"
    (RESULTS / name).write_text(json.dumps(figures, indent=2) + "\n")
    for line in wrong + slow:
        wide_console().print(f"[red]missed[/red] {line}")
    return 1 if wrong or (options.check and slow) else 0


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


def _report_cost(costs: cost.Costs, width: float) -> list[str]:
    """Print the CPU of a scan; what took too long."""
    table, found = (
        Table("scans of", "scans a second", "cells µs a scan", "edge µs a scan", "together"),
        cost.ratio(costs),
    )
    for one in costs:
        table.add_row(one.name, f"{one.rate:,.0f}", f"{one.cells:.0f}", f"{one.edge:.0f}", f"{one.total:.0f}")
    console = wide_console()
    console.print(table)
    console.print(f"CPU a scan, two cells / one: {found:.2f} (at most {cost.MOST})")
    return [f"CPU a scan: {found:.2f}"] if found > 1 + (cost.MOST - 1) * width else []


def _report_faults(series: list[Series], width: float) -> list[str]:
    """Print what cell a noticed of each fault; what took too long."""
    alone = series[0]
    bound = isolation.bound_ms(alone)
    table = Table("cell a, while", "scans a second", "errors", "p50 ms", "p99 ms", f"at most {bound:.1f}")
    for one in series:
        p50, p99 = (one.figure(lambda each: each.p50_us) or 0) / 1e3, isolation.p99_ms(one)
        kept = "" if one is alone else "yes" if p99 <= bound else "NO"
        table.add_row(one.name, f"{one.rate:,.0f}", str(isolation.errors(one)), f"{p50:.1f}", f"{p99:.1f}", kept)
    wide_console().print(table)
    return [
        f"{one.name}: p99 {isolation.p99_ms(one):.1f} ms" for one in series if isolation.p99_ms(one) > bound * width
    ]


if __name__ == "__main__":
    sys.exit(main())
