"""A bound on what callers can make us write: so many of one kind a minute, and so many in all. The rest is counted."""

import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

WINDOW: Final = 60.0


class EventLimit:
    """Counts events by key in windows of a minute. A window is forgotten as a whole, so memory is bounded by `most`."""

    def __init__(self, *, of_one: int, most: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._of_one = of_one
        self._most = most
        self._monotonic = monotonic
        self._began = monotonic()
        self._allowed: Counter[Hashable] = Counter()
        self._total = 0
        self._suppressed: Counter[str] = Counter()

    def allows(self, name: str, *source: Hashable) -> bool:
        """Whether one more event of this name and source may be written now."""
        if self._monotonic() - self._began >= WINDOW:
            self._began, self._total = self._monotonic(), 0
            self._allowed.clear()
        key = (name, *source)
        if self._allowed[key] >= self._of_one or self._total >= self._most:
            self._suppressed[name] += 1
            return False
        self._allowed[key] += 1
        self._total += 1
        return True

    def take_suppressed(self, name: str) -> int:
        """How many events of this name were suppressed since the last call."""
        return self._suppressed.pop(name, 0)
