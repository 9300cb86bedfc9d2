"""CPU time of processes, from /proc: what a scan costs moves less than how many there are a second."""

import os
from collections.abc import Iterable
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def seconds(pids: Iterable[int]) -> float:
    """User and system time of these processes, and of children that they have waited for."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15])
    return total / TICK
