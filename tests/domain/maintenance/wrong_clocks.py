"""Processes on a machine whose clock is wrong, by libfaketime: Debian's package `faketime`."""

from pathlib import Path
from typing import Final

LIBRARIES: Final = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


def off_by(difference: str) -> dict[str, str]:
    """The environment of a process whose clock is so far off, such as `+1d`. Its timers run as they should."""
    assert LIBRARIES, "install faketime: see tools/missing_packages.sh"
    return {"LD_PRELOAD": str(LIBRARIES[0]), "FAKETIME": difference, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def off_by_file(path: Path, difference: str) -> dict[str, str]:
    """The same by a file, which the process reads each time that it asks for the time."""
    new = path.with_suffix(".new")
    new.write_text(f"{difference}\n")
    new.replace(path)
    given = off_by(difference)
    del given["FAKETIME"]
    return given | {"FAKETIME_TIMESTAMP_FILE": str(path), "FAKETIME_NO_CACHE": "1"}
