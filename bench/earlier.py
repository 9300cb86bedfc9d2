"""Benches of an earlier commit, by its own code; and its import, in turn with that of today."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console

from bench.report import Ratio, empty_table
from tests.drills.upgrade.versions import TODAY, Version, exported

# Wanted against commit 5a5fe53, the last one before tickets of imports and of the API were issued by one verb.
FASTER = 3.0


def compare(commit: str, rows: int, rounds: int, console: Console) -> Ratio:
    """Rows a second that are applied, by the code of today and by that of an earlier commit, in turn."""
    rates: dict[str, list[float]] = {TODAY.name: [], commit: []}
    with tempfile.TemporaryDirectory() as folder:
        # Its bench and its tests too: they start its own processes.
        earlier = exported(commit, commit, Path(folder), "gatepass", "bench", "tests")
        for _ in range(rounds):
            for version in (earlier, TODAY):
                rates[version.name].append(rows / _applied_in(version, rows))
    shown = empty_table(f"{rows:,} rows applied, rows a second", "round", *rates)
    for turn, pair in enumerate(zip(*rates.values(), strict=True), 1):
        shown.add_row(str(turn), *(f"{rate:,.0f}" for rate in pair))
    console.print(shown)
    return Ratio(f"rows applied a second, today / {commit}", median(rates[TODAY.name]) / median(rates[commit]), FASTER)


def _applied_in(version: Version, rows: int) -> float:
    """The seconds that its bench reports."""
    shown = bench_of(version, "bench.imports", "--rows", str(rows))
    found = re.search(r"applying: ([\d.]+) s", shown)
    assert found, f"{version.name}: {shown}"
    return float(found[1])


def bench_of(version: Version, *arguments: str) -> str:
    """What a bench of this version prints. It may miss its bounds on a busy machine, so its exit code says nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", *arguments],
        env={**os.environ, "PYTHONPATH": str(version.path)},
        cwd=version.path,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr
