"""Processes on a machine whose clock is wrong, by libfaketime: Debian's package `faketime`."""

from pathlib import Path
from typing import Final

LIBRARIES: Final = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


def off_by(difference: str) -> dict[str, str]:
    """The environment of a process whose clock is so far off, such as `+1d`. Its timers run as they should."""
    assert LIBRARIES, "install faketime: see tools/missing_packages.sh"
    return {"LD_PRELOAD": str(LIBRARIES[0]), "FAKETIME": difference, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
