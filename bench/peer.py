"""Scans a second, against pretix, in one run: a slice of pretix, then one of Gatepass, in every round.

python -m bench.peer --tickets 20000 --rounds 3
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import dataset
from bench.console import wide_console
from bench.measure import Slice, wrk
from bench.pretix.client import Call, make_calls
from bench.pretix.figures import Comparison, CostedSlice, System, compare, costed, table
from bench.pretix.install import VERSION, fill, install, migrate
from bench.pretix.server import WORKERS, Pretix, configure, redis_server, running_pretix
from bench.stack import api, migrated_database
from gatepass.base.settings import BASE_PATH
from tests.postgres import Cluster
from tests.processes import GatepassProcess

RESULTS = Path(__file__).parent / "results"
PROGRAMS = ("uv", "redis-server", "wrk")
# Eight keep pretix's workers busy; with more, each call only waits longer.
PRETIX_CONNECTIONS = 8
GATEPASS_CONNECTIONS = 64
# A process pays for imports, caches and prepared statements once: some seconds of scans on either side.
PRETIX_WARMING = 80
GATEPASS_WARMING = 1_000
# Work that a slice starts may end a moment after the last answer; it is part of the slice's cost.
SETTLING_SECONDS = 0.5

CONDITIONS = """\
pretix {version} from PyPI: gunicorn with {workers} workers, a Celery worker, Redis. Gatepass: one process.
One PostgreSQL {postgres} for both, fsync on. {tickets:,} tickets in each; Gatepass gets a fresh copy of its \
database in every round, because a round uses thousands of them. Both were vacuumed and analyzed.
Every scan that is counted is the first of its ticket, and carries a nonce (pretix) or an Idempotency-Key (Gatepass).
Neither side has webhooks. The callers run on the same cores; their CPU time is not counted."""


@dataclass
class Run:
    options: argparse.Namespace
    console: Console
    cluster: Cluster
    plan: Path
    pretix: Pretix

    def measure(self) -> tuple[System, System]:
        peer, ours = System("pretix", PRETIX_CONNECTIONS), System("Gatepass", self.options.connections)
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=self.console, transient=True) as progress:
            task = progress.add_task("measuring", total=2 * self.options.rounds)
            for number in range(1, self.options.rounds + 1):
                for system, measured in ((peer, self._pretix), (ours, partial(self._gatepass, number))):
                    progress.update(task, description=f"round {number}: {system.name}")
                    one = measured()
                    system.slices.append(one)
                    progress.advance(task)
                    self.console.print(f"round {number}: {system.name}, {one.scans.rate:,.1f} scans a second")
        return peer, ours

    def _pretix(self) -> CostedSlice:
        one = costed(
            lambda: self.pretix.scan(self.options.scans, PRETIX_CONNECTIONS),
            {
                "gunicorn": self.pretix.processes("gunicorn"),
                "celery": self.pretix.processes("celery"),
                "redis": self.pretix.processes("redis"),
                "postgres": self.cluster.processes,
            },
        )
        if not one.scans.failed:
            require("pretix let in", self.pretix.redeemed(), self.pretix.scanned, self.pretix.scanned)
        return one

    def _gatepass(self, number: int) -> CostedSlice:
        url = copied(self.cluster, f"round_{number}")
        with api(url, 1) as served:
            warm(served[0], self.plan)
            vacuum(url)
            one = costed(
                lambda: self._scan(served),
                {"gatepass": lambda: [served[0].process.pid], "postgres": self.cluster.processes},
            )
        if one.scans.done > self.options.tickets - GATEPASS_WARMING:
            raise AssertionError("Gatepass ran out of tickets: more --tickets, or fewer --seconds")
        if not one.scans.failed:
            # wrk closes the connections of calls that are still open when its time is over.
            least = GATEPASS_WARMING + one.scans.done
            require("Gatepass activated", activated(url), least, least + self.options.connections)
        return one

    def _scan(self, served: list[GatepassProcess]) -> Slice:
        scans = wrk(served, self.plan, GATEPASS_WARMING, self.options.seconds, self.options.connections, "card")
        time.sleep(SETTLING_SECONDS)
        return scans


def copied(cluster: Cluster, name: str) -> str:
    """The loaded database once more, with every ticket unused."""
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE bench")  # pyright: ignore[reportArgumentType, reportCallIssue]
    return cluster.url(name)


def warm(server: GatepassProcess, plan: Path) -> None:
    """Scan the first tickets of the plan, as `Pretix.warm` does for pretix."""
    with plan.open() as lines:
        calls = [_call(line) for line in islice(lines, GATEPASS_WARMING)]
    make_calls(server.port, calls, GATEPASS_CONNECTIONS, wanted=200).require_all()


def _call(line: str) -> Call:
    key, event_id, number, _ = line.split()
    number = number.replace("_", " ")
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": f"warm-{number}"}
    return Call(f"{BASE_PATH}/scan", headers, {"event_id": event_id, "card_number": number, "gate": "North 2"})


def vacuum(url: str) -> None:
    """As autovacuum does within minutes. pretix's database was vacuumed too."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def activated(url: str) -> int:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT count(*) FROM ticket WHERE activated_at IS NOT NULL").fetchall()[0][0]


def require(claim: str, found: int, least: int, most: int) -> None:
    """Compare the answers with the database: a replayed answer looks like a scan and is none."""
    if not least <= found <= most:
        raise AssertionError(f"{claim} {found} tickets; by the answers it is {least} to {most}")


def run(options: argparse.Namespace, console: Console) -> tuple[System, System]:
    results = RESULTS.resolve()
    results.mkdir(exist_ok=True)
    with step(console, "install pretix"):
        programs = install(results)
    with tempfile.TemporaryDirectory() as name, migrated_database(options.postgres) as (cluster, url):
        with step(console, "load Gatepass's tickets"):
            data = dataset.load(url, Path(name), options.tickets, 1)
        with pretix_of(options, console, cluster, results, programs) as pretix:
            return Run(options, console, cluster, data.plan, pretix).measure()


@contextmanager
def pretix_of(
    options: argparse.Namespace, console: Console, cluster: Cluster, results: Path, programs: Path
) -> Generator[Pretix]:
    """Set up pretix in the same PostgreSQL, filled and warm."""
    instance = configure(results, cluster)
    with redis_server(instance) as store:
        with step(console, "migrate pretix's database (minutes at first, then from a dump)"):
            url = migrate(cluster, results, programs, instance.env)
        with step(console, "load pretix's tickets"):
            scanner = fill(url, programs, instance.env, options.tickets)
        with ExitStack() as stack:
            with step(console, "start and warm pretix"):
                pretix = stack.enter_context(running_pretix(instance, store, programs, url, scanner))
                pretix.warm(PRETIX_WARMING, PRETIX_CONNECTIONS)
            yield pretix


@contextmanager
def step(console: Console, name: str) -> Generator[None]:
    started = time.monotonic()
    with console.status(name):
        yield
    console.print(f"{name}: {time.monotonic() - started:.0f} s")


def write(options: argparse.Namespace, systems: tuple[System, System], compared: list[Comparison]) -> None:
    figures = {
        "options": vars(options),
        "pretix": VERSION,
        "ratios": {one.ratio.name: asdict(one) for one in compared},
        "systems": [asdict(system) for system in systems],
    }
    (RESULTS / "peer.json").write_text(json.dumps(figures, indent=1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tickets", type=int, default=20_000, help="tickets in each system")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scans", type=int, default=400, help="tickets that pretix scans in a round")
    parser.add_argument("--seconds", type=int, default=2, help="how long Gatepass scans in a round")
    parser.add_argument("--connections", type=int, default=GATEPASS_CONNECTIONS, help="to Gatepass; pretix has 8")
    parser.add_argument("--postgres", type=int, default=18)
    parser.add_argument("--check", action="store_true", help="fail if a ratio is not reached")
    options = parser.parse_args()
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        parser.error(f"not installed: {', '.join(missing)}")
    if options.tickets < max(2 * GATEPASS_WARMING, PRETIX_WARMING + options.rounds * options.scans):
        parser.error("too few tickets to scan: more --tickets, or fewer --scans")
    console = wide_console()
    systems = run(options, console)
    compared = compare(*systems)
    table(console, systems, compared)
    console.print(CONDITIONS.format(version=VERSION, workers=WORKERS, **vars(options)), highlight=False)
    write(options, systems, compared)
    failed = [f"{system.name}: {system.failed}" for system in systems if system.failed]
    if failed:
        console.print(f"[red]Scans were refused or broken ({', '.join(failed)}): these figures mean nothing.")
        return 1
    return 1 if options.check and not all(one.ratio.reaches() for one in compared) else 0


if __name__ == "__main__":
    sys.exit(main())
