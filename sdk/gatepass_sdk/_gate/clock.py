"""The clock of a gate: the machine's, corrected by what the service said about it.

Clocks at gates are minutes wrong. The service refuses scans of the future, and a phone's code is good for 60 seconds.
So a clock that is wrong is corrected here, and what the gate sends is the corrected time. It is corrected only while no
entry waits for its upload: the service corrects those by the offset that it measured with the same clock.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

# Less is the delay of a slow answer.
TOLERATED: Final = timedelta(seconds=3)


def system_time() -> datetime:
    return datetime.now(UTC)


class GateClock:
    def __init__(self, system: Callable[[], datetime] = system_time, correction: timedelta = timedelta()) -> None:
        self._system = system
        self.correction = correction

    def now(self) -> datetime:
        return self._system() - self.correction

    def corrected(self, offset: timedelta) -> bool:
        """Take this offset, of this clock to the service's, into account. Whether that was needed."""
        if abs(offset) <= TOLERATED:
            return False
        self.correction += offset
        return True
