"""The journal of a run: what the load did and saw, one JSON object a line.

All times are seconds of `clock()`, which is the wall clock at the start of the process and never jumps.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

T = TypeVar("T")

_OFFSET = time.time() - time.monotonic()


def clock() -> float:
    return time.monotonic() + _OFFSET


@dataclass(frozen=True, slots=True)
class Started:
    """Scans flow. `urls` maps the name of each way to the database to its API."""

    at: float
    urls: dict[str, str]
    # Seconds that the service has for a call.
    deadline: float


@dataclass(frozen=True, slots=True)
class Scan:
    """A gate shows a card. The key identifies the scan in all of its attempts; the scanner's name is the key too."""

    at: float
    key: str
    card: str
    gate: str
    by_token: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP request. `status` is None if no whole answer came; then `error` says why. `key` is that of a scan."""

    url: str
    path: str
    begin: float
    end: float
    key: str | None = None
    status: int | None = None
    code: str | None = None
    request_id: str | None = None
    replayed: bool = False
    body: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the SDK told the gate: the verdict, or an error; `unknown` if it says that it does not know the outcome."""

    at: float
    key: str
    verdict: str
    unknown: bool


@dataclass(frozen=True, slots=True)
class Readiness:
    """An answer of /readyz that differs from the one before; `status` is None if there was none."""

    url: str
    begin: float
    end: float
    status: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """A process did not answer even /livez for so long: it was dead, frozen or starved, or the load itself was."""

    url: str
    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Ids of messages, in the order of the feed."""

    at: float
    url: str
    ids: list[str]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Stopping:
    """No new scan is begun from now on."""

    at: float


@dataclass(frozen=True, slots=True)
class Ended:
    at: float
    next_card: int
    feed_cursor: str | None


Record: TypeAlias = Started | Scan | Attempt | Outcome | Readiness | Silence | FeedPage | Stopping | Ended
KINDS: dict[str, type[Record]] = {
    kind.__name__.lower(): kind
    for kind in (Started, Scan, Attempt, Outcome, Readiness, Silence, FeedPage, Stopping, Ended)
}


class JournalWriter:
    """Each line is one write, so that a kill loses none."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, record: Record) -> None:
        line = {"kind": type(record).__name__.lower(), **asdict(record)}
        os.write(self._file, (json.dumps(line) + "\n").encode())

    def close(self) -> None:
        os.close(self._file)


@dataclass
class Journal:
    """The records by their kinds, each in its order of writing."""

    started: Started
    scans: dict[str, Scan]
    attempts: list[Attempt]
    outcomes: list[Outcome]
    readiness: list[Readiness]
    silences: list[Silence]
    pages: list[FeedPage]
    stopping: Stopping | None
    ended: Ended | None

    @classmethod
    def read(cls, path: Path) -> Self:
        """The whole lines: a load that was killed may leave half of one."""
        lines = path.read_text().splitlines(keepends=True)
        return cls.of([record_of(json.loads(line)) for line in lines if line.endswith("\n")])

    @classmethod
    def of(cls, records: Sequence[Record]) -> Self:
        def every(kind: type[T]) -> list[T]:
            return [one for one in records if isinstance(one, kind)]

        return cls(
            started=every(Started)[0],
            scans={scan.key: scan for scan in every(Scan)},
            attempts=every(Attempt),
            outcomes=every(Outcome),
            readiness=every(Readiness),
            silences=every(Silence),
            pages=every(FeedPage),
            stopping=next(iter(every(Stopping)), None),
            ended=next(iter(every(Ended)), None),
        )

    @property
    def scanned_until(self) -> float:
        """When the last scan was begun, if the load was killed."""
        return self.stopping.at if self.stopping else max((one.end for one in self.attempts), default=self.started.at)


def record_of(line: dict[str, Any]) -> Record:
    return KINDS[line.pop("kind")](**line)
