"""A reader reads a code as long as it lies before it: the same code at the same reader is one guest, not many."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gatepass_sdk._gate.shown import Shown

# From the last reading to the next: a code that is held still is one scan however long that takes.
SECONDS: Final = 3.0


class Echoes:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, tuple[str, float, Shown]] = {}

    def answer(self, reader: str, code: str) -> Shown | None:
        """What was shown for this code a moment ago."""
        with self._lock:
            last = self._last.get(reader)
            if last is None or last[0] != code or self._clock() - last[1] > SECONDS:
                return None
            self._last[reader] = (code, self._clock(), last[2])
            return replace(last[2], echo=True)

    def remember(self, reader: str, code: str, shown: Shown) -> None:
        """Amber is not remembered: whoever shows the code again asks to try again."""
        with self._lock:
            if shown.colour == "amber":
                self._last.pop(reader, None)
            else:
                self._last[reader] = (code, self._clock(), shown)
