"""One slice of measuring: how many, how long each took, and what it cost."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psycopg

from bench import cpu
from gatepass.base.settings import BASE_PATH
from tests.postgres import Cluster
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
    wal_bytes: float = 0

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
    processes: Sequence[Serving],
    plan: Path,
    first: int,
    seconds: float,
    connections: int,
    way: str,
    *,
    retry: bool,
    room: int = 15_000,
    pause_ms: int = 0,
) -> Slice:
    """Load all processes at once, the connections and `room` tickets a second shared out among them.

    With a pause, each connection waits so long between an answer and its next call: an offered rate, not the highest.
    """
    processes = processes[:connections]
    room = int(seconds * room) // len(processes)
    runs: list[subprocess.Popen[str]] = []
    for place, process in enumerate(processes):
        mine = max(1, connections // len(processes))
        env = {
            "PLAN": str(plan), "FIRST": str(first + place * room), "COUNT": str(room), "WAY": way,
            "RETRY": "1" if retry else "0", "BASE": BASE_PATH, "PAUSE_MS": str(pause_ms),
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


def costed(work: Callable[[], Slice], python: Sequence[int], cluster: Cluster) -> Slice:
    """Run a slice and add what it cost, per activation: CPU time of Python and of PostgreSQL, and bytes of WAL."""
    before = cpu.seconds(python), cpu.seconds(cluster.processes()), _wal(cluster)
    result = work()
    after = cpu.seconds(python), cpu.seconds(cluster.processes()), _wal(cluster)
    python_s, postgres_s, wal = (b - a for a, b in zip(before, after, strict=True))
    result.python_us = python_s / max(result.done, 1) * 1e6
    result.postgres_us = postgres_s / max(result.done, 1) * 1e6
    result.wal_bytes = wal / max(result.done, 1)
    return result


def _wal(cluster: Cluster) -> int:
    """How many bytes of WAL have been written so far."""
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        ((written,),) = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchall()
    return int(written)
