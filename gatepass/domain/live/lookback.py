"""How far back a scan may lie that the last snapshot did not see."""

from collections import deque
from datetime import datetime, timedelta
from typing import Final

# Between the time in a scan and its first write: a wait for a connection, a lock, a retry, some 6 s in all; and as
# much again for clocks of processes that differ.
SKEW: Final = timedelta(seconds=12)
# A transaction of somebody else (an import, say) may run for long; nobody's scans are read again and again for
# that. What commits later still is found by the next recount.
FARTHEST: Final = timedelta(minutes=2)


class Horizon:
    """Remembers when which transaction numbers were not given out yet.

    What a snapshot did not see was written by a transaction that is not older than the oldest that ran then. It got its
    number after any moment at which that number was still to come.
    """

    def __init__(self) -> None:
        self._looks: deque[tuple[datetime, int]] = deque()
        self._oldest_running = 0

    def looked(self, at: datetime, snapshot: str) -> None:
        """A snapshot was taken; `at` is a moment just before."""
        oldest_running, next_number = (int(part) for part in snapshot.split(":")[:2])
        self._oldest_running = oldest_running
        self._looks.append((at, next_number))
        while len(self._looks) > 1 and self._looks[1][1] <= oldest_running:
            self._looks.popleft()
        while self._looks[0][0] < at - FARTHEST:
            self._looks.popleft()

    def since(self) -> datetime:
        """Nothing that is still to be seen has an earlier time."""
        first_at, next_number = self._looks[0]
        if next_number <= self._oldest_running:
            return first_at - SKEW
        return self._looks[-1][0] - FARTHEST - SKEW
