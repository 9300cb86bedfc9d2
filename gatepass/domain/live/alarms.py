"""Alarms for the staff of an event: a category fills up, scans have stopped, a scanner is silent."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from gatepass.domain.events import Event, EventStatus
from gatepass.domain.live.full_count import ON_DUTY
from gatepass.domain.live.totals import Minute, Scanner, Totals

NEARLY_FULL: Final = 0.9
SILENT_AFTER: Final = timedelta(minutes=5)
MOST_SILENT: Final = 50
# Doors open before the event starts.
DOORS_OPEN_BEFORE: Final = timedelta(hours=4)
# An alarm: no scan for 2 whole minutes, after 15 minutes with 15 scans or more.
STILL_MINUTES: Final = 2
BUSY_MINUTES: Final = 15
BUSY_SCANS: Final = 15


class AlarmKind(StrEnum):
    FULL = "full"
    NEARLY_FULL = "nearly_full"
    STOPPED = "stopped"
    NOT_PUBLISHED = "not_published"


@dataclass(frozen=True, slots=True)
class Alarm:
    kind: AlarmKind
    sentence: str


@dataclass(frozen=True, slots=True)
class SilentScanner:
    scanner: Scanner
    silent_for: timedelta


def alarms(event: Event, totals: Totals, now: datetime) -> list[Alarm]:
    """The most serious first. That a category is full, or nearly, is news and no trouble: its guests are in."""
    return [*_status(totals), *_stopped(event, totals, now), *_capacity(totals)]


def _status(totals: Totals) -> list[Alarm]:
    if totals.status is None or totals.status == EventStatus.PUBLISHED:
        return []
    return [Alarm(AlarmKind.NOT_PUBLISHED, f"This event is {totals.status}: every scan is refused.")]


def _capacity(totals: Totals) -> list[Alarm]:
    found: list[Alarm] = []
    for category in totals.categories:
        activated = totals.activated_of(category.id)
        if category.capacity and activated >= category.capacity:
            found.append(Alarm(AlarmKind.FULL, f"{category.name} is full: all {category.capacity:,} are in."))
        elif category.capacity and activated >= NEARLY_FULL * category.capacity:
            left = category.capacity - activated
            found.append(
                Alarm(
                    AlarmKind.NEARLY_FULL,
                    f"{category.name} is nearly full: {left:,} of {category.capacity:,} places are left.",
                )
            )
    return found


def _stopped(event: Event, totals: Totals, now: datetime) -> list[Alarm]:
    """No scans while the doors are open: a network, or a gate, is down."""
    if totals.status != EventStatus.PUBLISHED or not event.starts_at - DOORS_OPEN_BEFORE <= now <= event.ends_at:
        return []
    # The current minute, which is not whole, comes on top.
    still = STILL_MINUTES + 1
    hour = totals.last_hour(now)
    busy = _scans(hour[-still - BUSY_MINUTES : -still])
    if _scans(hour[-still:]) or busy < BUSY_SCANS:
        return []
    return [
        Alarm(
            AlarmKind.STOPPED,
            f"No scan for over {STILL_MINUTES} minutes, after {busy:,} in the quarter of an hour before. "
            "Look at the gates and their network.",
        )
    ]


def _scans(minutes: list[Minute]) -> int:
    return sum(one.activated + one.denied for one in minutes)


def silent_scanners(totals: Totals, now: datetime) -> list[SilentScanner]:
    """Scanners of today without a scan for SILENT_AFTER, the most recently active first."""
    silent = [
        SilentScanner(one, now - one.last_at)
        for one in totals.scanners.values()
        if SILENT_AFTER < now - one.last_at <= ON_DUTY
    ]
    return sorted(silent, key=lambda one: one.silent_for)[:MOST_SILENT]
