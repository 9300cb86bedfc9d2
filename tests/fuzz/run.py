"""The run: client processes send, a gate of another organization scans, and the bounds are checked at the end."""

import asyncio
import json
import pickle
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.client import Job
from tests.fuzz.pools import Pools, fill
from tests.fuzz.stack import Stack
from tests.scan_probe import ScanProbe, is_small_delay, p99
from tests.size import NIGHT

ROOT = Path(__file__).parents[2]
ROUNDS = 5
# Before it has sent this share of the requests, the server still fills its caches.
WARM, LAST_ROUND = 0.1, 0.75
MOST_GROWTH = 64.0


@dataclass
class Result:
    """Memory in megabytes, times in milliseconds."""

    seed: int
    counts: dict[str, Counter[str]]
    faults: list[list[Any]]
    seconds: float
    memory: tuple[float, float]
    alone: list[float] = field(default_factory=list[float])
    meanwhile: list[float] = field(default_factory=list[float])
    same_process: bool = True
    good_scans: tuple[tuple[int, str], tuple[int, str]] = ((0, ""), (0, ""))

    @property
    def total(self) -> int:
        return sum(sum(statuses.values()) for statuses in self.counts.values())

    @property
    def delay(self) -> str:
        alone, meanwhile = statistics.median(self.alone), statistics.median(self.meanwhile)
        return f"{alone:.1f} ms alone, {meanwhile:.1f} ms meanwhile, median of {len(self.alone)} rounds"

    def problems(self, *, judges_delay: bool = NIGHT) -> list[str]:
        """The bounds that are broken; how long scans took is judged at night."""
        wrong = {
            f"faults of the server: {self.faults}": bool(self.faults),
            "the server is not the process that was started": not self.same_process,
            f"memory grew by {self.memory[1] - self.memory[0]:.0f} MB": self.memory[1] - self.memory[0] > MOST_GROWTH,
            f"a good scan answers {self.good_scans[1]}": self.good_scans[0] != self.good_scans[1],
            f"p99 of scans: {self.delay}": judges_delay and not is_small_delay(self.alone, self.meanwhile),
        }
        return [sentence for sentence, is_wrong in wrong.items() if is_wrong]


class Clients:
    """The client processes, which can be paused."""

    def __init__(self, jobs: list[Path]) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.client", str(job)], cwd=ROOT, stdout=subprocess.PIPE, text=True
            )
            for job in jobs
        ]
        self._latest: list[dict[str, Any]] = [{"counts": {}, "faults": []} for _ in jobs]
        self._heard: set[int] = set()

    async def follow(self) -> None:
        """Read the counts until all have ended."""
        await asyncio.gather(*(asyncio.to_thread(self._read, n) for n in range(len(self._processes))))
        assert all(process.wait() == 0 for process in self._processes)

    def _read(self, at: int) -> None:
        stdout = self._processes[at].stdout
        assert stdout is not None
        for line in stdout:
            self._latest[at] = json.loads(line)
            self._heard.add(at)

    @property
    def are_running(self) -> bool:
        """Whether all have begun. A signal before that would end them."""
        return len(self._heard) == len(self._processes)

    def signal(self, number: int) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)

    @property
    def counts(self) -> dict[str, Counter[str]]:
        counts: dict[str, Counter[str]] = {}
        for latest in self._latest:
            for kind, statuses in latest["counts"].items():
                counts.setdefault(kind, Counter()).update(statuses)
        return counts

    @property
    def sent(self) -> int:
        return sum(sum(statuses.values()) for statuses in self.counts.values())

    @property
    def faults(self) -> list[list[Any]]:
        return [fault for latest in self._latest for fault in latest["faults"]]


@dataclass(frozen=True)
class Size:
    """At most so many requests and seconds.

    `window` is how long the gate is measured alone, and then meanwhile, in each of five rounds.
    """

    requests: int
    seconds: float
    clients: int
    window: float
    drawn: int


async def run(stack: Stack, size: Size, seed: int, folder: Path) -> Result:
    pools = await asyncio.to_thread(fill, seed, size.drawn)
    first = await stack.good_scan()
    began = time.monotonic()
    clients = Clients(_jobs(stack, size, seed, pools, folder, began))
    following = asyncio.create_task(clients.follow())

    def share_over() -> float:
        return max(clients.sent / size.requests, (time.monotonic() - began) / size.seconds)

    async def until(share: float) -> None:
        """Wait until this share of the requests, or of the time, is over, and all clients are at work."""
        while not following.done() and (not clients.are_running or share_over() < share):
            await asyncio.wait([following], timeout=0.2)

    try:
        await until(WARM)
        memory = stack.memory
        windows: list[tuple[float, float, float]] = []
        with stack.target.probe(stack.server) as probe:
            for n in range(ROUNDS):
                await until(WARM + (LAST_ROUND - WARM) * n / (ROUNDS - 1))
                windows.append(await _round(clients, following, size.window))
                print(f"{clients.sent:,} sent", flush=True)
        await following
    finally:
        clients.signal(signal.SIGKILL)
    seconds = time.monotonic() - began
    result = Result(seed, clients.counts, clients.faults, seconds, (memory, stack.memory))
    _measure(result, probe, windows)
    result.same_process = stack.server.is_alive()
    result.good_scans = (first, await stack.good_scan())
    return result


def _jobs(stack: Stack, size: Size, seed: int, pools: Pools, folder: Path, began: float) -> list[Path]:
    paths = [folder / f"job-{n}" for n in range(size.clients)]
    for n, path in enumerate(paths):
        job = Job(stack.facts, pools, seed, n, size.requests // size.clients, began + size.seconds)
        path.write_bytes(pickle.dumps(job))
    return paths


async def _round(clients: Clients, following: asyncio.Task[None], window: float) -> tuple[float, float, float]:
    """Alone, then meanwhile."""
    clients.signal(signal.SIGUSR1)
    clients.signal(signal.SIGSTOP)
    began = time.monotonic()
    await asyncio.sleep(window)
    clients.signal(signal.SIGCONT)
    between = time.monotonic()
    await asyncio.wait([following], timeout=window)
    ended = time.monotonic()
    clients.signal(signal.SIGUSR2)
    return began, between, ended


def _measure(result: Result, probe: ScanProbe, windows: list[tuple[float, float, float]]) -> None:
    result.alone = [p99(probe.within(began, between)) for began, between, _ in windows]
    result.meanwhile = [p99(probe.within(between, ended)) for _, between, ended in windows]
