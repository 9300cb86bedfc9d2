"""Where the time and the bytes of one scenario go: functions of Python, routines of PostgreSQL, records of WAL.

python -m bench.profile --scenario "scan, 64 connections"
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console

from bench import dataset
from bench.console import wide_console
from bench.measure import costed
from bench.report import empty_table
from bench.scan import MOST_A_SECOND, scenarios
from bench.stack import api, cluster_with
from gatepass.migrations import runner
from tests.postgres import Cluster
from tests.processes import GatepassProcess

# Samples of py-spy a second: enough for shares, and few enough not to be seen in them.
SAMPLES = 200
SHOWN = 40
# `pg_waldump --stats=record`: the kind, the number, its share, then sizes and their shares; the last size is in all.
RECORD = re.compile(r"^(\S+)\s+(\d+) \([^)]*\)\s+\d+ \([^)]*\)\s+\d+ \([^)]*\)\s+(\d+) \(")
LIBRARY = re.compile(r".*/(?:site-packages|python3\.\d+)/")


@dataclass
class Profile:
    """Samples by function, those in which it ran itself and those in which it was on the stack."""

    samples: int
    own: Counter[str]
    with_called: Counter[str]

    @classmethod
    def read(cls, raw: str) -> "Profile":
        """From py-spy's `raw` format: a stack, its frames separated by semicolons, and how often it was seen."""
        own, with_called, samples = Counter[str](), Counter[str](), 0
        for line in raw.splitlines():
            stack, _, text = line.rpartition(" ")
            frames, seen = [LIBRARY.sub("", frame) for frame in stack.split(";")], int(text)
            samples += seen
            own[frames[-1]] += seen
            for frame in set(frames):
                with_called[frame] += seen
        return cls(samples, own, with_called)


def sampled(process: GatepassProcess, folder: Path, seconds: float) -> "subprocess.Popen[bytes]":
    py_spy = Path(sys.executable).with_name("py-spy")
    return subprocess.Popen(
        [py_spy, "record", "--function", "--format", "raw", "--rate", str(SAMPLES), "--duration", str(int(seconds)),
         "--pid", str(process.process.pid), "--output", str(folder / "samples")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def wal_records(cluster: Cluster, start: str, end: str) -> list[tuple[str, int, int]]:
    """The kinds of WAL records between two places: name, number and bytes, the largest first."""
    command = [cluster.binaries / "pg_waldump", "--stats=record", "--path", cluster.folder / "data" / "pg_wal",
               "--start", start, "--end", end]  # fmt: skip
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = [(row[1], int(row[2]), int(row[3])) for line in shown.splitlines() if (row := RECORD.match(line))]
    return sorted((one for one in found if one[1] and one[0] != "Total"), key=lambda one: -one[2])


ROUTINES = """
    SELECT funcname, calls, total_time, self_time
      FROM pg_stat_user_functions
     ORDER BY self_time DESC
"""


def profile(options: argparse.Namespace, console: Console) -> None:
    with tempfile.TemporaryDirectory() as name, cluster_with(options.postgres, track_functions="all") as cluster:
        url, folder = cluster.create_database("bench"), Path(name)
        runner.upgrade(url)
        data = dataset.load(url, folder, options.tickets, options.organizations, more_events=2)
        with ExitStack() as around, api(url, 1) as served, psycopg.connect(url, autocommit=True) as connection:
            (chosen,) = [s for s in scenarios(cluster, folder, data, served) if s.name == options.scenario]
            if chosen.subscribed:
                around.enter_context(dataset.subscribed(url))
            place = 0 if chosen.needs_token else data.with_tokens
            place += chosen.run(place, 2).used  # keys are cached, and plans made
            connection.execute("SELECT pg_stat_reset()")
            start, size = _lsn(connection), _size(connection)
            sampling = sampled(served[0], folder, options.seconds)
            one = costed(lambda: chosen.run(place, options.seconds), [served[0].process.pid], cluster)
            sampling.wait(60)
            end = _lsn(connection)
            if one.failed:
                raise SystemExit(f"{one.failed} calls were refused or broken: this profile means nothing.")
            grown = (_size(connection) - size) / one.done
            routines = connection.execute(ROUTINES).fetchall()
            records = wal_records(cluster, start, end)
        console.print(
            f"{one.done:,} calls, {one.rate:,.0f} a second: {one.python_us:,.0f} µs of Python, "
            f"{one.postgres_us:,.0f} µs of PostgreSQL, {one.wal_bytes:,.0f} bytes of WAL, {grown:,.0f} of tables each"
        )
        _show_functions(console, Profile.read((folder / "samples").read_text()), one.python_us)
        shown = empty_table("routines of PostgreSQL", "routine", "calls", "µs a call of ours", "itself")
        for routine, calls, total_ms, own_ms in routines:
            shown.add_row(
                routine, f"{calls:,}", f"{total_ms * 1000 / one.done:,.1f}", f"{own_ms * 1000 / one.done:,.1f}"
            )
        console.print(shown)
        shown = empty_table("records of WAL", "record", "a call of ours", "bytes a call")
        for kind, number, size in records[:SHOWN]:
            shown.add_row(kind, f"{number / one.done:,.2f}", f"{size / one.done:,.0f}")
        console.print(shown)


def _lsn(connection: "psycopg.Connection[tuple[object, ...]]") -> str:
    ((place,),) = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchall()
    return str(place)


def _size(connection: "psycopg.Connection[tuple[Any, ...]]") -> int:
    """Bytes of the tables and indexes."""
    ((size,),) = connection.execute("SELECT pg_database_size(current_database())").fetchall()
    return int(size)


def _show_functions(console: Console, seen: Profile, python_us: float) -> None:
    for title, counted in (("itself", seen.own), ("with what it calls", seen.with_called)):
        shown = empty_table(f"functions of Python, {title}", "function", "share", "µs a call")
        telling = Counter({one: samples for one, samples in counted.items() if samples < seen.samples})
        for function, samples in telling.most_common(SHOWN):
            share = samples / seen.samples
            shown.add_row(function, f"{share:.1%}", f"{share * python_us:,.1f}")
        console.print(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", default="scan, 64 connections", help="the name of one of `bench.scan`")
    parser.add_argument("--tickets", type=int, default=400_000)
    parser.add_argument("--organizations", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--postgres", type=int, default=18)
    options = parser.parse_args()
    if options.tickets < (least := 2 * (options.seconds + 2) * MOST_A_SECOND):
        parser.error(f"too few tickets for {options.seconds} seconds: at least {least:,}")
    profile(options, wide_console())


if __name__ == "__main__":
    main()
