"""Webhooks: deliveries a second, latency, and the effect of bad receivers and of a backlog. Ratios inside one run.

python -m bench.webhooks                     # all, at full size
python -m bench.webhooks --short --check 0.6 # ratios, each night
python -m bench.webhooks --least             # only whether each part delivers all, as CI runs it
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from bench import report
from bench.console import wide_console
from bench.report import Ratio
from bench.stack import migrated_database
from bench.webhooks import backlog, drain, fairness, latency, throughput
from bench.webhooks.receipts import Latency
from bench.webhooks.stack import Stack

T = TypeVar("T")
Part = Callable[[Stack, argparse.Namespace, Console], tuple[list[Ratio], Any]]


def _size(options: argparse.Namespace, least: T, short: T, full: T) -> T:
    return least if options.least else short if options.short else full


def _speed(stack: Stack, options: argparse.Namespace, console: Console) -> tuple[list[Ratio], Any]:
    rounds, seconds = _size(options, (1, 0.5), (2, 2.0), (5, 5.0))
    found = throughput.measure(
        stack, rounds=rounds, seconds=seconds, messages=12_000 + int(seconds * 6_000), endpoints=(1, 16)
    )
    ratios = throughput.ratios(found)
    report.table(console, found, ratios)
    return ratios, [asdict(one) for one in found]


def _drain(stack: Stack, options: argparse.Namespace, console: Console) -> tuple[list[Ratio], Any]:
    done = drain.measure(stack, messages=_size(options, 2_000, 20_000, 1_000_000))
    console.print(done.text())
    if done.delivered != done.messages:
        raise SystemExit(f"{done.messages:,} were emitted, and {done.delivered:,} delivered.")
    ratios = [
        Ratio("rate of the last tenth / of the first", done.tenths[-1] / done.tenths[0], 0.8),
    ]
    return _show_ratios(console, ratios), asdict(done)


def _prompt(stack: Stack, options: argparse.Namespace, console: Console) -> tuple[list[Ratio], Any]:
    found = latency.measure(stack, seconds=_size(options, 1, 5, 30), judged=not options.least)
    return show_latencies(console, "500 scans a second", found, latency.ratios(found)), [asdict(one) for one in found]


def _fair(stack: Stack, options: argparse.Namespace, console: Console) -> tuple[list[Ratio], Any]:
    rounds, alone, beside = _size(options, (1, 1.0, 2.0), (1, 5.0, 8.0), (3, 15.0, 30.0))
    found = fairness.measure(
        stack, rounds=rounds, alone=alone, beside=beside, crowd=not (options.short or options.least)
    )
    title = "the healthy endpoint, from commit to receipt"
    return show_latencies(console, title, found, fairness.ratios(found)), [asdict(one) for one in found]


def _backlog(stack: Stack, options: argparse.Namespace, console: Console) -> tuple[list[Ratio], Any]:
    rounds, seconds, size = _size(options, (1, 1.0, 2_000), (1, 5.0, 50_000), (3, 15.0, backlog.BACKLOG))
    found = backlog.measure(stack, rounds=rounds, seconds=seconds, backlog=size)
    return show_latencies(console, "beside old retries", found, backlog.ratios(found)), [asdict(one) for one in found]


PARTS: dict[str, Part] = {"speed": _speed, "drain": _drain, "prompt": _prompt, "fair": _fair, "backlog": _backlog}


def show_latencies(console: Console, title: str, found: list[Latency], ratios: list[Ratio]) -> list[Ratio]:
    table = report.empty_table(title, "", "messages", "p50 ms", "p99 ms", "most ms")
    for one in found:
        table.add_row(one.name, f"{one.count:,}", f"{one.p50:.1f}", f"{one.p99:.1f}", f"{one.most:.1f}")
    console.print(table)
    return _show_ratios(console, ratios)


def _show_ratios(console: Console, ratios: list[Ratio]) -> list[Ratio]:
    for ratio in ratios:
        console.print(ratio.text())
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="small sizes")
    parser.add_argument("--least", action="store_true", help="each part once, and as little of it as drives it")
    parser.add_argument("--only", default=",".join(PARTS), help="some of: " + ", ".join(PARTS))
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument(
        "--check", type=float, metavar="SHARE", help="fail if a ratio does not reach this share of what is wanted"
    )
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    console, ratios, figures = wide_console(), list[Ratio](), dict[str, Any]()
    began = time.monotonic()
    with migrated_database(options.postgres) as (cluster, url):
        stack = Stack(cluster, url)
        stack.prepare()
        for name in options.only.split(","):
            console.rule(f"{name} (at {time.monotonic() - began:.0f} s)")
            found, figures[name] = PARTS[name](stack, options, console)
            ratios += found
    options.out.mkdir(parents=True, exist_ok=True)
    figures["ratios"] = {one.name: one.value for one in ratios}
    (options.out / "webhooks.json").write_text(json.dumps(figures, indent=1, default=str))
    missed = [ratio.name for ratio in ratios if options.check and not ratio.keeps(options.check)]
    if missed:
        console.print(f"[red]Below {options.check:.0%} of what is wanted: {', '.join(missed)}.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
