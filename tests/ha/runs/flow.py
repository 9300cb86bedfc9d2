"""Do scans flow? What a journal says while it is written."""

import itertools
import json
import time
from collections import defaultdict, deque
from pathlib import Path

from tests.ha.exactness import is_definite
from tests.ha.journal import Attempt, Ended, Started, record_of

# A way flows if its last two seconds have no longer pause than this.
PAUSE = 0.7
STEADY = 2.0


class Flow:
    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._at = 0
        self._answered: dict[str, deque[float]] = defaultdict(deque)
        self.has_started = False
        self.ended: Ended | None = None

    def flows(self, ways: set[str], since: float = 0.0) -> bool:
        """Whether scans have been answered steadily on these ways, after a moment."""
        self._read()
        now = time.time()
        return now - since > STEADY and all(self._is_steady(self._answered[way], now) for way in ways)

    def _is_steady(self, answered: deque[float], now: float) -> bool:
        while answered and answered[0] < now - STEADY - PAUSE:
            answered.popleft()
        times = [now - STEADY, *(one for one in answered if one > now - STEADY), now]
        return all(late - early < PAUSE for early, late in itertools.pairwise(times))

    def _read(self) -> None:
        if not self._journal.exists():
            return
        with self._journal.open("rb") as file:
            file.seek(self._at)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        record = record_of(json.loads(line))
        match record:
            case Attempt() if record.key is not None and is_definite(record):
                self._answered[record.url].append(record.end)
            case Started():
                self.has_started = True
            case Ended():
                self.ended = record
            case _:
                pass
