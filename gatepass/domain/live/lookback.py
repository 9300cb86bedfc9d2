"""How far back in time to look for scans that were not visible in the last snapshot."""

from collections import deque
from datetime import datetime, timedelta
from typing import Final

# From the time in a scan to its first write: a wait for a connection, a lock, a retry, about 6 s in all; and as much
# again for the difference between the clocks of two processes.
SKEW: Final = timedelta(seconds=12)
# A transaction of another client (an import, say) may run for long. Scans are not read again and again because of it:
# those that commit after this limit are found by the next full count.
FARTHEST: Final = timedelta(minutes=2)


class Lookback:
    """Remembers at which times which transaction ids were not assigned yet.

    A row that is not visible in a snapshot was written by a transaction that is not older than the oldest one running
    then. That transaction got its id after any moment at which the id was not assigned yet.
    """

    def __init__(self) -> None:
        self._looks: deque[tuple[datetime, int]] = deque()
        self._oldest_running = 0

    def looked(self, at: datetime, snapshot: str) -> None:
        """Remember a snapshot; `at` is a moment just before it."""
        oldest_running, next_number = (int(part) for part in snapshot.split(":")[:2])
        self._oldest_running = oldest_running
        self._looks.append((at, next_number))
        while len(self._looks) > 1 and self._looks[1][1] <= oldest_running:
            self._looks.popleft()
        while self._looks[0][0] < at - FARTHEST:
            self._looks.popleft()

    def since(self) -> datetime:
        """No scan that is not counted yet has an earlier time."""
        first_at, next_number = self._looks[0]
        if next_number <= self._oldest_running:
            return first_at - SKEW
        return self._looks[-1][0] - FARTHEST - SKEW
