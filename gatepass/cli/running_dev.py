"""A running `gatepass dev`, and how other commands find it: by a file in its `.gatepass`, which it holds locked.

The file has what a command needs to reach the same database. It goes when `dev` ends; if `dev` was killed, its lock is
gone, and whoever finds the file removes it. Only a file of this user counts: another's could name another's database.
"""

import fcntl
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gatepass.cli.private_file import private

FOLDER: Final = Path(".gatepass")
FILES: Final = "running-*.json"


@dataclass(frozen=True, slots=True)
class RunningDev:
    """Where it was started, and its environment: the variables that another command needs."""

    folder: Path
    environment: Mapping[str, str]


@contextmanager
def announced(environment: Mapping[str, str]) -> Generator[None]:
    """Let other commands find this process while the block lasts."""
    path = FOLDER.absolute() / f"running-{os.getpid()}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(".new")
    with open(written, "w", encoding="utf-8", opener=private) as file:
        # Locked before it has its name: nobody finds it unlocked.
        fcntl.flock(file, fcntl.LOCK_EX)
        json.dump(dict(environment), file)
        file.flush()
        written.rename(path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def find(start: Path) -> RunningDev | None:
    """The `gatepass dev` of this folder or of the nearest one above it; the newest, if several run."""
    for folder in (start, *start.parents):
        with suppress(OSError):
            files = sorted((folder / FOLDER).glob(FILES), key=lambda path: path.stat().st_mtime, reverse=True)
            for path in files:
                environment = _read(path)
                if environment is not None:
                    return RunningDev(folder, environment)
    return None


def _read(path: Path) -> dict[str, str] | None:
    """The environment in this file, if a living process of this user holds it."""
    with path.open(encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_uid != os.getuid():
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            with suppress(ValueError, AttributeError):
                return {str(name): str(value) for name, value in json.load(file).items()}
            return None
        path.unlink(missing_ok=True)
        return None
