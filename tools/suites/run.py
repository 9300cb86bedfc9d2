"""Run suites, two of one core beside each other, each into a log of its own, with what it took."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path

from tools.suites import revision
from tools.suites.record import Outcome
from tools.suites.suite import Suite

CORES = 2
# Of a suite that passed, and of one that failed.
LINES, LINES_OF_A_FAILURE = 3, 150


def run(
    suites: Sequence[Suite], command: Callable[[Suite], str], logs: Path, environment: Mapping[str, str]
) -> Iterator[tuple[Suite, Outcome, str]]:
    """Each suite as it ends, with the end of its log. All of them run, whatever fails."""
    logs.mkdir(parents=True, exist_ok=True)
    waiting, running, free = list(suites), dict[Future[Outcome], Suite](), CORES
    with ThreadPoolExecutor(CORES) as threads:
        while waiting or running:
            while suite := next((one for one in waiting if one.cores <= free), None):
                waiting.remove(suite)
                free -= suite.cores
                running[threads.submit(_run_one, command(suite), logs / f"{suite.name}.log", environment)] = suite
            for ended in wait(running, return_when=FIRST_COMPLETED).done:
                suite = running.pop(ended)
                free += suite.cores
                outcome = ended.result()
                yield suite, outcome, _end_of(logs / f"{suite.name}.log", outcome.code)


def _run_one(command: str, log: Path, environment: Mapping[str, str]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder, log.open("wb") as output:
        result = Path(folder) / "result.json"
        subprocess.run(
            [sys.executable, "-m", "tools.suites.timed", str(result), "bash", "-c", command],
            cwd=revision.ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        taken = json.loads(result.read_text())
    return Outcome(
        revision.head(), f"{datetime.now(UTC):%Y-%m-%d}", **taken, **_counted(log.read_text(errors="replace"))
    )


def _counted(log: str) -> dict[str, int]:
    """The tests in the closing lines of pytest."""
    closing = re.findall(r"^(?:=+ )?((?:\d+ [a-z]+, )*\d+ [a-z]+) in \d[\d.]*s\b", log, re.MULTILINE)
    found = [(int(number), word) for line in closing for number, word in re.findall(r"(\d+) ([a-z]+)", line)]
    words = {"passed": ("passed",), "failed": ("failed", "error", "errors"), "skipped": ("skipped",)}
    return {name: sum(number for number, word in found if word in meant) for name, meant in words.items()}


def _end_of(log: Path, code: int) -> str:
    lines = log.read_text(errors="replace").splitlines()
    if code == 0:
        return "\n".join(lines[-LINES:])
    failures = [line for line in lines if re.match(r"(FAILED|ERROR) |.*: \*\*\* ", line)]
    return "\n".join([*lines[-LINES_OF_A_FAILURE:], *failures])


ADDITIONS = """
from time import process_time
begun, number = process_time(), 0
for _ in range(5_000_000):
    number += 1
print(process_time() - begun)
"""


def additions() -> float:
    """CPU seconds for five million additions: how fast this machine is today."""
    return float(subprocess.run([sys.executable, "-c", ADDITIONS], check=True, capture_output=True, text=True).stdout)
