"""The primary's machine runs out of disk, or its clock jumps."""

import os
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL

from tests.ha.faults.kind import MACHINE, PROCESS, kind
from tests.ha.lab.cluster import Node
from tests.ha.lab.lab import Lab

# Seconds: longer than the leader's lease. Deliveries that are due by the wrong clock wait for as long.
JUMP = 30


# Commits that need no new page succeed, and so does the one that /readyz tries.
@kind(bound=PROCESS, from_mending=True, part="disk", hold=8.0, allows=("not_ready_late",))
def disk_full(lab: Lab, primary: Node) -> Generator[None]:
    """The disk of the primary's data is full."""
    ballast = primary.folder / "disk" / "ballast"
    fill(ballast)
    yield
    ballast.unlink()


def fill(path: Path) -> None:
    """Write a file until there is no room for another page."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    for size in (1 << 20, 1 << 12):
        with suppress(OSError):
            while True:
                os.write(file, bytes(size))
    os.close(file)


# Patroni takes its lease for ended until it has renewed it, within two seconds. While the clocks differ no process is
# ready, and the gates of the lab ask all the same.
@kind(bound=PROCESS, part="clock", hold=6.0, allows=("ready_late",))
def clock_ahead(lab: Lab, primary: Node) -> Generator[None]:
    """The clock of the primary's Patroni and PostgreSQL jumps ahead by 30 seconds."""
    primary.set_clock(JUMP)
    yield
    # As an operator has to do it: see the next kind.
    primary.patroni.signal(SIGKILL)
    primary.set_clock(0)


# Patroni waits for its next turn by the time of day. The end of its lease wakes it.
@kind(bound=MACHINE, part="clock", hold=26.0, allows=("ready_late",))
def clock_back(lab: Lab, primary: Node) -> Generator[None]:
    """The clock of the primary's Patroni and PostgreSQL jumps back by 30 seconds."""
    primary.set_clock(-JUMP)
    yield
    primary.set_clock(0)
