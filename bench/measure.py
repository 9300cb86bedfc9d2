"""One slice of measuring: how many, how long each took, and what it cost."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import cpu
from gatepass.base.settings import BASE_PATH
from tests.serving import Serving

HERE = Path(__file__).parent


@dataclass
class Slice:
    done: int
    seconds: float
    mean_us: float
    p50_us: float | None
    p99_us: float | None
    failed: int
    used: int
    python_us: float = 0
    postgres_us: float = 0

    @property
    def rate(self) -> float:
        return self.done / self.seconds


@dataclass
class Series:
    """The slices of one scenario over all rounds; figures are medians."""

    name: str
    slices: list[Slice] = field(default_factory=list[Slice])

    def figure(self, of: Callable[[Slice], float | None]) -> float | None:
        values = [value for one in self.slices if (value := of(one)) is not None]
        return median(values) if values else None

    @property
    def rate(self) -> float:
        return self.figure(lambda one: one.rate) or 0


def wrk(
    processes: Sequence[Serving], plan: Path, first: int, seconds: float, connections: int, way: str, *, retry: bool
) -> Slice:
    """Load all processes at once, the connections shared out among them."""
    room = int(seconds * 15_000) // len(processes)
    runs: list[subprocess.Popen[str]] = []
    for place, process in enumerate(processes):
        mine = max(1, connections // len(processes))
        env = {
            "PLAN": str(plan), "FIRST": str(first + place * room), "COUNT": str(room), "WAY": way,
            "RETRY": "1" if retry else "0", "BASE": BASE_PATH,
        }  # fmt: skip
        command = [
            "wrk", "-t1", f"-c{mine}", f"-d{int(seconds)}s", "--timeout", "10s", "-s", str(HERE / "scan.lua"),
            process.url,
        ]  # fmt: skip
        runs.append(subprocess.Popen(command, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True))
    results = [_result(run) for run in runs]
    done = int(sum(result["requests"] for result in results))
    return Slice(
        done=done,
        seconds=max(result["seconds"] for result in results),
        mean_us=sum(result["mean_us"] * result["requests"] for result in results) / max(done, 1),
        p50_us=max(result["p50_us"] for result in results),
        p99_us=max(result["p99_us"] for result in results),
        failed=int(sum(result["refused"] + result["broken"] for result in results)),
        used=room * len(processes) if way in ("card", "token") else 0,
    )


def _result(run: subprocess.Popen[str]) -> dict[str, float]:
    said, _ = run.communicate(timeout=120)
    line = next((line for line in said.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        raise AssertionError(f"wrk said nothing:\n{said}")
    return json.loads(line.removeprefix("RESULT "))


def costed(work: Callable[[], Slice], python: Sequence[int], postgres: Callable[[], Sequence[int]]) -> Slice:
    """Run a slice and add what it cost in CPU time, per activation, of Python and of PostgreSQL."""
    before = cpu.seconds(python), cpu.seconds(postgres())
    result = work()
    after = cpu.seconds(python), cpu.seconds(postgres())
    result.python_us = (after[0] - before[0]) / max(result.done, 1) * 1e6
    result.postgres_us = (after[1] - before[1]) / max(result.done, 1) * 1e6
    return result
