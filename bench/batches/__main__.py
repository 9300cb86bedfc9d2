"""Tickets a thousand at a time: against bare PostgreSQL in one run, and a million of them while scans go on.

    python -m bench.batches [--rounds 5] [--batches 20] [--million 1000000] [--check]

The two callers of a way are two shops, because batches for one event take turns.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from bench import report
from bench.batches import million, speed
from bench.batches.million import Million
from bench.console import wide_console
from bench.measure import Series
from bench.stack import migrated_database


def show(console: Console, series: list[Series]) -> None:
    columns = ("tickets a second", "ms a batch", "Python µs", "PostgreSQL µs", "WAL bytes")
    shown = report.empty_table("medians over the rounds; costs are those of a ticket", "way", *columns)
    for one in series:
        shown.add_row(
            one.name,
            f"{one.rate:,.0f}",
            f"{one.mean_us / 1000:,.1f}",
            f"{one.figure(lambda s: s.python_us) or 0:,.0f}",
            f"{one.figure(lambda s: s.postgres_us) or 0:,.0f}",
            f"{one.figure(lambda s: s.wal_bytes) or 0:,.0f}",
        )
    console.print(shown)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=20, help="in each slice of the comparison")
    parser.add_argument(
        "--million", type=int, default=1_000_000, help="tickets to issue while scans go on; 0 leaves it out"
    )
    parser.add_argument("--seconds", type=int, default=20, help="of scans while batches are issued, in each round")
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument("--check", action="store_true", help="fail if a bound is not kept")
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    console = wide_console()
    with migrated_database(options.postgres) as (cluster, url):
        series, failed = speed.measure(cluster, url, options.rounds, options.batches)
    show(console, series)
    ratios = speed.ratios(series)
    beside: Million | None = None
    if options.million:
        beside = million.measure(options.postgres, options.million, options.rounds, options.seconds)
        beside.show(console)
        ratios += beside.ratios()
        failed += beside.failed
    for ratio in ratios:
        console.print(ratio.text())
    options.out.mkdir(parents=True, exist_ok=True)
    found = {"series": [asdict(one) for one in series], "million": asdict(beside) if beside else None}
    (options.out / "batches.json").write_text(json.dumps(found, indent=1))
    if failed:
        console.print(f"[red]{failed:,} calls were refused or broken: these figures mean nothing.")
    return 1 if failed or (options.check and not all(one.reaches() for one in ratios)) else 0


if __name__ == "__main__":
    sys.exit(main())
