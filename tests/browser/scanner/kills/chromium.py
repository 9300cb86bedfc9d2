"""A real Chromium that can be killed at any moment, and the two places in its profile in which a gate keeps things."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.browser.engines.programs import CHROMIUM, QUIET
from tests.browser.scanner.kills import leveldb_log

HEADLESS: Final = ["--headless=new", "--hide-crash-restore-bubble", "--disable-crash-reporter", "--noerrdialogs"]
PLACES: Final = ("main", "mirror")
# All its processes are gone in a moment; a busy machine takes longer to say so.
GONE_WITHIN = 60.0


class Chromium:
    """One profile, over all the lives of its browser."""

    def __init__(self, profile: Path, url: str, *arguments: str) -> None:
        self.profile = profile
        self._url = url
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """In a session of its own, so that all its processes can be killed at once."""
        given = [*QUIET, *HEADLESS, *self._arguments, f"--user-data-dir={self.profile}", self._url]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen([CHROMIUM, *given], start_new_session=True, stdout=quiet, stderr=quiet)

    def kill(self) -> None:
        process = self._process
        if process is None:
            return
        self._process = None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        ends = time.monotonic() + GONE_WITHIN
        while _lives(process.pid):
            assert time.monotonic() < ends
            time.sleep(0.005)

    def place(self, name: str) -> Path:
        """The LevelDB of a place: that of the site, or that of its bucket."""
        (found,) = self._found(name)
        return found

    def is_whole(self, name: str) -> bool:
        """Whether this place is there and nothing in its log is torn. If not, the other may be the only copy.

        A browser that is killed as it starts has not yet made a place anew that was deleted, or has not begun its log.
        """
        logs = [log for place in self._found(name) for log in logs_of(place)]
        return bool(logs) and leveldb_log.is_whole(logs[-1].read_bytes())

    def _found(self, name: str) -> list[Path]:
        default = self.profile / "Default"
        pattern = "IndexedDB/*.indexeddb.leveldb" if name == "main" else "WebStorage/*/IndexedDB/*.leveldb"
        return list(default.glob(pattern))


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


# What may become of a place. Each leaves the other as it is.
Harm = Callable[[Path, random.Random], None]


def delete(place: Path, _rng: random.Random) -> None:
    shutil.rmtree(place)


def tear_header(place: Path, _rng: random.Random | None = None) -> None:
    """Half of a record's header at the end of the log, as a browser leaves it that is killed while it writes."""
    with log_of(place).open("ab") as log:
        log.write(b"\x8a\x1f\x00\xd4\x40\x7f\x01")


def cut(place: Path, rng: random.Random) -> None:
    """The end of the log is missing."""
    log = log_of(place)
    os.truncate(log, rng.randrange(log.stat().st_size + 1))


def overwrite(place: Path, rng: random.Random) -> None:
    """A block in the middle is something else."""
    log = log_of(place)
    size = log.stat().st_size
    with log.open("r+b") as file:
        file.seek(rng.randrange(max(size - 512, 1)))
        file.write(rng.randbytes(512))


def lose_list(place: Path, _rng: random.Random) -> None:
    """Without CURRENT no LevelDB can be opened."""
    (place / "CURRENT").write_bytes(b"")


HARMS: Final[tuple[Harm, ...]] = (delete, tear_header, cut, overwrite, lose_list)


def log_of(place: Path) -> Path:
    return logs_of(place)[-1]


def logs_of(place: Path) -> list[Path]:
    """The oldest first."""
    return sorted(place.glob("*.log"), key=lambda path: int(path.stem))
