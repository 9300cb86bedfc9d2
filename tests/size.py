"""What a run is. A submission is short and the same each time; both words that change that are read here.

`GATEPASS_FULL=1` takes the longest tests at full size. `GATEPASS_NIGHT=1` judges times and ratios, leaves no mutant
out, and draws new seeds, which it prints. A submission asserts nothing about time: the machine may have other work.
"""

import os
import random
from typing import TypeVar

import pytest

from tools.suites.revision import tree_hash

T = TypeVar("T")

FULL = os.environ.get("GATEPASS_FULL") == "1"
NIGHT = os.environ.get("GATEPASS_NIGHT") == "1"


def sized(*, short: T, full: T) -> T:
    return full if FULL else short


def seed_of_run(usual: int = 1) -> int:
    """The seed that is always the same on submission, and another one each night. Who draws from it prints it."""
    return random.SystemRandom().randrange(2**32) if NIGHT else usual


def dice(usual: int = 1) -> random.Random:
    """The chance of a test, with its seed printed."""
    seed = seed_of_run(usual)
    print(f"seed {seed}")
    return random.Random(seed)


def require_drawn(number: int, *, of: int, always: range = range(0)) -> None:
    """Skip, unless the tree draws this number, as it draws one of so many; or it is one of those that always run.

    At night and at full size all run. Asked when a test runs, not when it is collected.
    """
    if FULL or NIGHT or number in always:
        return
    if number % of != int(tree_hash(), 16) % of:
        pytest.skip("this tree draws others; at night all run")
