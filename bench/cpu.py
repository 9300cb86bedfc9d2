"""CPU time of processes, from /proc. The cost of a scan varies less than the number of scans a second."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
ADDITIONS = 5_000_000


def seconds(pids: Iterable[int]) -> float:
    """User and system time of these processes, and of the children that they have waited for."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15])
    return total / TICK


def exact_seconds(pid: int) -> float:
    """User and system time of this process in its living threads, to the nanosecond; `seconds` has ticks of 10 ms."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def yardstick() -> float:
    """Seconds of CPU for five million additions. It says how fast the machine is at the moment."""
    began, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return time.process_time() - began
