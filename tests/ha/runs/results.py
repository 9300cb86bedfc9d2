"""The results of all runs: one JSON line a round, kept in the repository, so that runs of many days make one table."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.ha.lab.cluster import ROOT

FILE = ROOT / "tests" / "ha" / "results.jsonl"
# Journals and logs of rounds that failed. git ignores them.
KEPT = ROOT / "test-results" / "ha"

Result = dict[str, Any]


def append(result: Result, file: Path = FILE) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        out.write(json.dumps({"commit": commit(), **result}) + "\n")


def read(file: Path = FILE) -> list[Result]:
    """All rounds, but none that was bad and was run again, after what was wrong had been mended."""
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    last = {_place(one): at for at, one in enumerate(found)}
    return [one for at, one in enumerate(found) if not one["violations"] or last[_place(one)] == at]


def _place(one: Result) -> tuple[int, float]:
    return one["seed"], one["round"] if "round" in one else one["at"]


def next_round(results: list[Result], seed: int) -> int:
    """The first round of a seed that has not been run."""
    return 1 + max((one["round"] for one in results if one["seed"] == seed and "round" in one), default=-1)


@cache
def commit() -> str:
    return subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, check=False, capture_output=True, text=True
    ).stdout.strip()
