"""One slice of a measurement: the number of calls, their times, and their cost."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Protocol

import httpx2
import psycopg

from bench import cpu
from gatepass.base.settings import BASE_PATH
from tests.postgres import Cluster

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

    @property
    def mean_us(self) -> float:
        return self.figure(lambda one: one.mean_us) or 0


class Served(Protocol):
    """A process, or the edge in front of some."""

    @property
    def url(self) -> str: ...


def wrk(
    processes: Sequence[Served],
    plan: Path,
    first: int,
    seconds: float,
    connections: int,
    way: str,
    *,
    idempotency_key: bool = True,
    tickets_a_second: int = 15_000,
    pause_ms: int = 0,
    core: int | None = None,
) -> Slice:
    """Load all processes at once, and divide the connections and the tickets among them.

    A connection waits `pause_ms` between an answer and its next call: a pause makes an offered rate of the highest one.
    With `core`, the client runs on that core only.
    """
    processes = processes[:connections]
    share = int(seconds * tickets_a_second) // len(processes)
    each = max(1, connections // len(processes))
    runs: list[subprocess.Popen[str]] = []
    for index, process in enumerate(processes):
        env = {
            "PLAN": str(plan), "FIRST": str(first + index * share), "COUNT": str(share), "WAY": way,
            "IDEMPOTENCY_KEY": "1" if idempotency_key else "0", "BASE": BASE_PATH, "PAUSE_MS": str(pause_ms),
            "TAG": _tag(process, plan) if way == "unchanged" else "",
        }  # fmt: skip
        command = [
            "wrk", "-t1", f"-c{each}", f"-d{int(seconds)}s", "--timeout", "10s", "-s", str(HERE / "scan.lua"),
            process.url,
        ]  # fmt: skip
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
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
        used=share * len(processes) if way in ("card", "token") else 0,
    )


def _tag(process: Served, plan: Path) -> str:
    """The ETag of the events that the first key of the plan reads. The body is as large as the bench says."""
    with plan.open() as lines:
        key = next(lines).split()[0]
    answer = httpx2.get(f"{process.url}{BASE_PATH}/events", headers={"Authorization": f"Bearer {key}"})
    if not 1_000 < len(answer.content) < 4_000:
        raise AssertionError(f"GET /events has {len(answer.content):,} bytes")
    return answer.headers["ETag"]


def _result(run: subprocess.Popen[str]) -> dict[str, float]:
    output, _ = run.communicate(timeout=120)
    line = next((line for line in output.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        raise AssertionError(f"wrk printed no result:\n{output}")
    return json.loads(line.removeprefix("RESULT "))


def costed(work: Callable[[], Slice], python: Sequence[int], cluster: Cluster) -> Slice:
    """Run a slice and add its cost per activation: CPU time of Python and of PostgreSQL, and bytes of WAL."""
    before = cpu.seconds(python), cpu.seconds(cluster.processes()), _wal(cluster)
    result = work()
    after = cpu.seconds(python), cpu.seconds(cluster.processes()), _wal(cluster)
    python_s, postgres_s, wal = (b - a for a, b in zip(before, after, strict=True))
    result.python_us = python_s / max(result.done, 1) * 1e6
    result.postgres_us = postgres_s / max(result.done, 1) * 1e6
    result.wal_bytes = wal / max(result.done, 1)
    return result


def _wal(cluster: Cluster) -> int:
    """The number of bytes of WAL that were written so far."""
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        ((written,),) = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchall()
    return int(written)
