"""The cost of a scan by the number of tickets and organizations. All sizes in one run, in turn.

python -m bench.growth --sizes 100000:1,1000000:1,10000000:1 --rounds 5
"""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench import dataset
from bench.console import wide_console
from bench.measure import Series, Slice, costed, wrk
from bench.pgbench import pgbench
from bench.report import empty_table
from bench.stack import api, cluster_with
from gatepass.migrations import runner
from tests.postgres import Cluster
from tests.processes import GatepassProcess

# Tickets and organizations. The smallest must last for all rounds, so slices are short.
SIZES = "100000:1,1000000:1,10000000:1,1000000:100,1000000:10000"
CONNECTIONS = 64
# A slice is given this many tickets for each second; it uses fewer.
TICKETS_A_SECOND = 10_000
# The tables of all sizes fit in. Ten million tickets have 8.3 GB; with 6 GB they lost 15 to 31 %.
BUFFERS = "12GB"
# Calls a second of the way "events", at least: enough to use nearly every key on every process before the first round.
KEYS_A_SECOND = 500
# Of the scans a second, from the smallest number of tickets to the largest.
MOST_LOST = 0.1
# Of the scans a second, with the most organizations. It is shown only: without `--known` most scans use a key first.
LEAST_MANY_TO_ONE = 0.85


@dataclass
class Size:
    """One database of the run, its tickets, and the API in front of it."""

    tickets: int
    organizations: int
    data: dataset.Dataset
    served: list[GatepassProcess]
    scans: Series
    bare: Series
    database: str
    next_ticket: int = 0

    @property
    def name(self) -> str:
        return f"{self.tickets:,} tickets, {self.organizations:,} organization{'s' if self.organizations > 1 else ''}"

    def use_keys(self) -> None:
        """Call each process with nearly every key, so that scans find them in its cache."""
        wrk(self.served, self.data.plan, 0, max(1, self.organizations // KEYS_A_SECOND), CONNECTIONS, "events")

    def measure(self, cluster: Cluster, folder: Path, seconds: int) -> None:
        """A slice through the API, then one of the same statement by bare pgbench."""
        pids = [process.process.pid for process in self.served]
        self.scans.slices.append(costed(lambda: self._scanned(seconds), pids, cluster))
        self.bare.slices.append(costed(lambda: self._bare(cluster, folder, seconds), [], cluster))

    def _scanned(self, seconds: int) -> Slice:
        one = wrk(
            self.served,
            self.data.plan,
            self.next_ticket,
            seconds,
            CONNECTIONS,
            "card",
            tickets_a_second=TICKETS_A_SECOND,
        )
        self.next_ticket += one.used
        return one

    def _bare(self, cluster: Cluster, folder: Path, seconds: int) -> Slice:
        one = pgbench(cluster, folder, self.next_ticket, seconds, 8, 1, database=self.database)
        self.next_ticket += one.used
        return one


def prepared(options: argparse.Namespace, cluster: Cluster, folder: Path, stack: ExitStack) -> list[Size]:
    found: list[Size] = []
    for index, (count, organizations) in enumerate(options.sizes):
        name = f"bench_{index}"
        url = cluster.create_database(name)
        runner.upgrade(url)
        part = folder / str(index)
        part.mkdir()
        data = dataset.load(url, part, count, organizations, planned=1_000_000)
        served = stack.enter_context(api(url, options.processes))
        found.append(Size(count, organizations, data, served, Series("scan"), Series("bare"), name))
    return found


def run(options: argparse.Namespace, console: Console) -> list[Size]:
    with (
        tempfile.TemporaryDirectory() as name,
        cluster_with(options.postgres, shared_buffers=options.buffers) as cluster,
        ExitStack() as stack,
    ):
        sizes = prepared(options, cluster, Path(name), stack)
        if options.known:
            for size in sizes:
                size.use_keys()
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("measuring", total=options.rounds * len(sizes))
            for _ in range(options.rounds):
                for size in sizes:
                    size.measure(cluster, Path(name), options.seconds)
                    progress.advance(task)
    return sizes


def show(console: Console, sizes: list[Size]) -> None:
    shown = empty_table(
        "medians over the rounds",
        *("size", "scans a second", "bare, 8 clients", "to bare", "Python µs", "PostgreSQL µs", "WAL bytes"),
    )
    for size in sizes:
        shown.add_row(
            size.name,
            f"{size.scans.rate:,.0f}",
            f"{size.bare.rate:,.0f}",
            f"{size.scans.rate / size.bare.rate:.2f}",
            f"{size.scans.figure(lambda one: one.python_us):,.0f}",
            f"{size.scans.figure(lambda one: one.postgres_us):,.0f}",
            f"{size.scans.figure(lambda one: one.wal_bytes):,.0f}",
        )
    console.print(shown)


def many_to_one(sizes: list[Size]) -> float | None:
    """The scans a second with the most organizations, to those of one organization with as many tickets."""
    many = max(sizes, key=lambda size: size.organizations)
    one = next((size for size in sizes if (size.tickets, size.organizations) == (many.tickets, 1)), None)
    return many.scans.rate / one.scans.rate if one and many.organizations > 1 else None


def lost(sizes: list[Size]) -> float:
    """The share of scans a second that is lost from the fewest to the most tickets, in one organization."""
    alone = sorted((size for size in sizes if size.organizations == 1), key=lambda size: size.tickets)
    return 1 - alone[-1].scans.rate / alone[0].scans.rate


def parsed_sizes(text: str) -> list[tuple[int, int]]:
    pairs = (one.partition(":") for one in text.split(","))
    return [(int(count), int(organizations)) for count, _, organizations in pairs]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", type=parsed_sizes, default=parsed_sizes(SIZES), help="tickets:organizations, and so on"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--known", action="store_true", help="use every key before the first round")
    parser.add_argument("--buffers", default=BUFFERS, help="shared_buffers of PostgreSQL")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument("--out", type=Path, default=Path("bench/results"))
    options = parser.parse_args()
    # Through the API at most this many, and bare fewer.
    least = 2 * options.rounds * options.seconds * TICKETS_A_SECOND
    if any(tickets < least for tickets, _ in options.sizes):
        parser.error(f"too few tickets for {options.rounds} rounds of {options.seconds} s: at least {least:,}")
    console = wide_console()
    sizes = run(options, console)
    show(console, sizes)
    fell = lost(sizes)
    console.print(f"from the fewest to the most tickets: {-fell:+.1%} scans a second (wanted ≥ {-MOST_LOST:.0%})")
    share = many_to_one(sizes)
    if share is not None:
        console.print(f"the most organizations / one: {share:.2f} (wanted ≥ {LEAST_MANY_TO_ONE})")
    options.out.mkdir(parents=True, exist_ok=True)
    figures = [{"size": size.name, "scan": asdict(size.scans), "bare": asdict(size.bare)} for size in sizes]
    (options.out / "growth.json").write_text(
        json.dumps({"fell": fell, "many_to_one": share, "sizes": figures}, indent=1)
    )
    failed = sum(one.failed for size in sizes for series in (size.scans, size.bare) for one in series.slices)
    if failed:
        console.print(f"[red]{failed} calls were refused or broken: these figures mean nothing.")
    return 1 if failed or fell > MOST_LOST else 0


if __name__ == "__main__":
    sys.exit(main())
