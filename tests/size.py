"""The size of the longest tests: short in CI, full with `GATEPASS_FULL=1` (`make full`)."""

import os
from typing import TypeVar

T = TypeVar("T")

FULL = os.environ.get("GATEPASS_FULL") == "1"


def sized(*, short: T, full: T) -> T:
    return full if FULL else short
