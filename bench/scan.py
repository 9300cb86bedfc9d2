"""Scans a second, against bare PostgreSQL, in one run: every scenario in every round, in turn.

python -m bench.scan --tickets 1000000 --rounds 5 --seconds 4
python -m bench.scan --tickets 50000 --rounds 1 --seconds 1 --processes 1   # only whether every scenario is answered
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import dataset, phones, report
from bench.console import wide_console
from bench.measure import Series, Slice, costed, wrk
from bench.pgbench import pgbench
from bench.stack import api, migrated_database
from tests.postgres import Cluster
from tests.processes import GatepassProcess

# More than any scenario uses, so that no slice runs out of tickets.
MOST_A_SECOND = 22_000
# Making a phone's code takes a third of a millisecond, so that fewer are made.
CODES_A_SECOND = 8_000
# About as long as PostgreSQL waits between two scans of one connection.
PAUSE_US = 1_500

# Lines of the log of a process that are shown where a call failed.
MOST_LINES = 5
REFUSED = "SELECT coalesce(code, 'none'), count(*) FROM logged_call WHERE status >= 400 GROUP BY code"


@dataclass
class Scenario:
    """`run(first ticket, seconds)` measures one slice."""

    name: str
    run: Callable[[int, float], Slice]
    needs_token: bool = False
    subscribed: bool = False
    needs_phones: bool = False


def scenarios(cluster: Cluster, folder: Path, data: dataset.Dataset, served: list[GatepassProcess]) -> list[Scenario]:
    def bare(clients: int, size: int, pause_us: int = 0) -> Callable[[int, float], Slice]:
        return lambda first, seconds: pgbench(cluster, folder, first, seconds, clients, size, pause_us=pause_us)

    def http(connections: int, way: str, *, idempotency_key: bool = True) -> Callable[[int, float], Slice]:
        return lambda first, seconds: wrk(
            served, data.plan, first, seconds, connections, way, idempotency_key=idempotency_key
        )

    def by_phone(first: int, seconds: float) -> Slice:
        codes = phones.write_codes(data, first, int(seconds * CODES_A_SECOND))
        return wrk(served, codes, 0, seconds, 64, "token", tickets_a_second=CODES_A_SECOND)

    return [
        Scenario("bare, 1 client", bare(1, 1)),
        Scenario("bare, 1 client, with pauses", bare(1, 1, PAUSE_US)),
        Scenario("bare, 8 clients", bare(8, 1)),
        Scenario("bare, 16 clients", bare(16, 1)),
        Scenario("bare, 32 a transaction", bare(2, 32)),
        Scenario("scan, 1 connection", http(1, "card")),
        Scenario("scan, 64 connections", http(64, "card")),
        Scenario("scan, 256 connections", http(256, "card")),
        Scenario("scan, 64, a webhook subscribed", http(64, "card"), subscribed=True),
        Scenario("scan, 256, a webhook subscribed", http(256, "card"), subscribed=True),
        Scenario("scan, no idempotency key, 64", http(64, "card", idempotency_key=False)),
        Scenario("scan by token, 64", http(64, "token"), needs_token=True),
        Scenario("scan by phone, 64", by_phone, needs_token=True, needs_phones=True),
        Scenario("verify, 64", http(64, "verify"), needs_token=True),
        Scenario("events, 64", http(64, "events")),
        Scenario("one event, 64", http(64, "event")),
        Scenario("events, unchanged, 64", http(64, "unchanged")),
    ]


@dataclass
class Run:
    """Rounds of slices: every scenario in turn, so that a disturbance reaches all of them."""

    options: argparse.Namespace
    console: Console
    cluster: Cluster
    url: str
    data: dataset.Dataset
    served: list[GatepassProcess]
    next_token: int = 0

    def __post_init__(self) -> None:
        self.next_ticket = self.data.with_tokens

    def measure(self, chosen: list[Scenario]) -> list[Series]:
        series = [Series(scenario.name) for scenario in chosen]
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=self.console, transient=True) as progress:
            task = progress.add_task("measuring", total=self.options.rounds * len(chosen))
            for turn in range(self.options.rounds):
                for scenario, one in zip(chosen, series, strict=True):
                    progress.update(task, description=f"round {turn + 1}: {scenario.name}")
                    one.slices.append(self._slice(scenario))
                    progress.advance(task)
        return series

    def _slice(self, scenario: Scenario) -> Slice:
        seconds = self.options.seconds
        first, last = (
            (self.next_token, self.data.with_tokens) if scenario.needs_token else (self.next_ticket, self.data.tickets)
        )
        if first + seconds * MOST_A_SECOND > last:
            dataset.reset(self.url)
            self.next_ticket, self.next_token = self.data.with_tokens, 0
            first = 0 if scenario.needs_token else self.data.with_tokens
        if self.options.checkpoint:
            dataset.checkpoint(self.url)
        pids = [process.process.pid for process in self.served]
        # No worker runs: the cost of writing messages is measured, not that of sending them.
        with dataset.subscribed(self.url) if scenario.subscribed else nullcontext():
            one = costed(lambda: scenario.run(first, seconds), pids, self.cluster)
        if one.failed:
            self.console.print(f"[red]{scenario.name}: {one.failed} calls were refused or broken. {self._refusals()}")
        if scenario.needs_token:
            self.next_token += one.used
        else:
            self.next_ticket += one.used
        return one

    def _refusals(self) -> str:
        """What the request log and the logs of the processes say of them."""
        with psycopg.connect(self.url) as connection:
            logged = connection.execute(REFUSED).fetchall()
        lines = [line for process in self.served for line in process.lines[1:][-MOST_LINES:]]
        return f"Refused in this database: {dict(logged)}.\n{''.join(lines)}"


def run(options: argparse.Namespace, console: Console) -> list[Series]:
    with tempfile.TemporaryDirectory() as name, migrated_database(options.postgres) as (cluster, url):
        folder = Path(name)
        data = dataset.load(url, folder, options.tickets, options.organizations, more_events=2)
        options.processes = options.processes or best_number(console, cluster, url, data)
        with api(url, options.processes) as served:
            chosen = [s for s in scenarios(cluster, folder, data, served) if _wanted(s, options.only)]
            if any(scenario.needs_phones for scenario in chosen):
                phones.enrol(url, data)
            return Run(options, console, cluster, url, data, served).measure(chosen)


def best_number(console: Console, cluster: Cluster, url: str, data: dataset.Dataset) -> int:
    """The number of API processes that serves 256 connections best, at most one a core; measured in turn."""
    with ExitStack() as stack:
        groups = [stack.enter_context(api(url, number)) for number in range(1, (os.cpu_count() or 1) + 1)]
        tried = [Scenario(str(len(group)), _at_256(group, data.plan)) for group in groups]
        served = [process for group in groups for process in group]
        trial = argparse.Namespace(rounds=3, seconds=2, checkpoint=False)
        series = Run(trial, console, cluster, url, data, served).measure(tried)
    dataset.reset(url)
    best = max(series, key=lambda one: one.rate)
    rates = ", ".join(f"{one.name}: {one.rate:,.0f}" for one in series)
    console.print(
        f"scans a second at 256 connections by number of API processes: {rates}. The run continues with {best.name}."
    )
    return int(best.name)


def _at_256(served: list[GatepassProcess], plan: Path) -> Callable[[int, float], Slice]:
    return lambda first, seconds: wrk(served, plan, first, seconds, 256, "card")


def _wanted(scenario: Scenario, only: str | None) -> bool:
    return only is None or any(part in scenario.name for part in only.split(","))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tickets", type=int, default=1_000_000)
    parser.add_argument("--organizations", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--processes", type=int, default=0, help="API processes; 0 tries and takes the best number")
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument(
        "--checkpoint", action="store_true", help="one before every slice, so that full-page images are in the figures"
    )
    parser.add_argument("--only", help="scenarios whose name contains one of these, separated by commas")
    parser.add_argument(
        "--check",
        type=float,
        metavar="SHARE",
        help="fail if a ratio does not reach this share of what was reached before",
    )
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    # Half of the tickets may be kept for the scenarios with tokens.
    if options.tickets < (least := 2 * options.seconds * MOST_A_SECOND):
        parser.error(f"too few tickets for {options.seconds} seconds: at least {least:,}")
    console = wide_console()
    series = run(options, console)
    ratios = report.ratios(series)
    report.table(console, series, ratios)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "scan.json").write_text(
        json.dumps({"options": vars(options) | {"out": str(options.out)}, "ratios": {r.name: r.value for r in ratios},
                    "series": [asdict(one) for one in series]}, indent=1, default=str)
    )  # fmt: skip
    (options.out / "scan.svg").write_text(report.plot(series))
    failed = sum(one.failed for each in series for one in each.slices)
    if failed:
        console.print(f"[red]{failed} calls were refused or broken: these figures mean nothing.")
        return 1
    if silent := [each.name for each in series if not all(one.done for one in each.slices)]:
        console.print(f"[red]No call was answered: {', '.join(silent)}.")
        return 1
    if options.only is None and (missing := report.names() - {ratio.name for ratio in ratios}):
        console.print(f"[red]Not measured: {', '.join(sorted(missing))}.")
        return 1
    missed = [ratio.name for ratio in ratios if options.check and not ratio.keeps(options.check)]
    if missed:
        console.print(f"[red]Below {options.check:.0%} of what was reached before: {', '.join(missed)}.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
