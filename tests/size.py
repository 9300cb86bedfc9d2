"""The size of the longest tests: short in CI, full with `GATEPASS_FULL=1` (`make faults-full`)."""

import os
from datetime import UTC, datetime
from typing import TypeVar

import pytest

T = TypeVar("T")

FULL = os.environ.get("GATEPASS_FULL") == "1"


def sized(*, short: T, full: T) -> T:
    return full if FULL else short


def require_turn(number: int, days: int) -> None:
    """Skip, unless this is the day of it: each has its turn within so many days, and with `GATEPASS_FULL=1` always.

    Asked when a test runs, not when it is collected: every process of pytest must collect the same.
    """
    if number % days != datetime.now(UTC).date().toordinal() % days and not FULL:
        pytest.skip("it has its turn on another day")
