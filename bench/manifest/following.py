"""What do a thousand devices that follow an event cost, and how much do they slow scans?"""

import asyncio
import subprocess
import sys
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.manifest.stack import Stack, settle
from bench.measure import Series, Slice
from bench.report import Ratio
from gatepass.base.database import Database
from tests.domain.manifest.follower import TestFollower

WITHOUT, WITH = "no device", "with devices"
# Ten connections, each with a pause: 100 scans a second at most.
OFFERED = {"connections": 10, "pause_ms": 98, "most": 110}


@dataclass
class Cost:
    """`cores` is what the devices add: CPU of the API and of PostgreSQL, a second, with them less without them."""

    devices: int
    scans_a_second: float
    cores: float
    cores_of_python: float
    messages_a_second: float


def cost(stack: Stack, devices: int, rounds: int, seconds: int) -> Cost:
    found: list[tuple[float, float, float, float]] = []
    for _ in range(rounds):
        without = stack.scan(seconds, **OFFERED)
        with stack.following(devices) as told_by_devices:
            settle()
            among = stack.scan(seconds, **OFFERED)
            settle(4)
        told = checked(told_by_devices, stack)
        python = _cores(among, python=True) - _cores(without, python=True)
        found.append((_cores(among) - _cores(without), python, among.rate, told / devices / (seconds + 6)))
    cores, python, rate, messages = (median(column) for column in zip(*found, strict=True))
    return Cost(devices, rate, cores, python, messages)


def _cores(one: Slice, *, python: bool = False) -> float:
    spent = one.python_us if python else one.python_us + one.postgres_us
    return spent * one.done / 1e6 / one.seconds


def checked(found: dict[str, Any], stack: Stack) -> int:
    """Every device has the records of the table. Returns the number of messages that they got."""
    assert found["ended"] == 0, f"{found['ended']} streams ended"
    fresh = asyncio.run(_state(stack))
    assert found["states"] == [fresh], f"{found['states']} is not {fresh}"
    return found["messages"]


async def _state(stack: Stack) -> str:
    db = Database(stack.url, deadline=60)
    follower = TestFollower(db, stack.organization_id, stack.event_id)
    made = await follower.read()
    await db.close()
    return made.state


def speed(stack: Stack, devices: int, rounds: int, seconds: int) -> list[Series]:
    """The highest rate of scans, with devices that follow and without, in turn."""
    series = {WITHOUT: Series(WITHOUT), WITH: Series(WITH)}
    for turn in range(rounds):
        for name in (WITHOUT, WITH) if turn % 2 else (WITH, WITHOUT):
            if name == WITHOUT:
                settle()
                series[name].slices.append(stack.scan(seconds))
                continue
            with stack.following(devices) as told_by_devices:
                settle()
                series[name].slices.append(stack.scan(seconds))
                settle(4)
            checked(told_by_devices, stack)
    return list(series.values())


def ratio(series: list[Series]) -> Ratio:
    """The median of the rounds' ratios, because other work may disturb a round."""
    without, among = (one.slices for one in series)
    pairs = zip(without, among, strict=True)
    return Ratio("scans with devices / without", median(b.rate / a.rate for a, b in pairs), 0.95)


def exactness(stack: Stack, seconds: int) -> tuple[int, float]:
    """At some 2,000 scans a second, each look equals a manifest of its snapshot. The looks, and the rate."""
    looking = subprocess.Popen(
        [sys.executable, "-m", "bench.manifest.looks", stack.url, str(stack.organization_id), str(stack.event_id),
         str(seconds)], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(1)
    one = stack.scan(seconds, pause_ms=25)
    assert one.failed == 0, f"{one.failed} scans were refused"
    looks = int(looking.communicate(timeout=120)[0])
    assert looking.returncode == 0
    return looks, one.rate
