"""What somebody at the door should look at: a category that fills up, scans that have stopped, scanners gone silent."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from gatepass.domain.door.counting import ON_DUTY
from gatepass.domain.door.tally import Minute, Scanner, Tally
from gatepass.domain.events import Event, EventStatus

NEARLY_FULL: Final = 0.9
SILENT_AFTER: Final = timedelta(minutes=5)
MOST_SILENT: Final = 50
# Doors open before the event starts.
DOORS_OPEN_BEFORE: Final = timedelta(hours=4)
# Nobody for two whole minutes, after a quarter of an hour in which people came.
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


def alarms(event: Event, tally: Tally, now: datetime) -> list[Alarm]:
    """The gravest first."""
    found = [*_status(tally), *_stopped(event, tally, now), *_capacity(tally)]
    return sorted(found, key=lambda one: one.kind is AlarmKind.NEARLY_FULL)


def _status(tally: Tally) -> list[Alarm]:
    if tally.status is None or tally.status == EventStatus.PUBLISHED:
        return []
    return [Alarm(AlarmKind.NOT_PUBLISHED, f"This event is {tally.status}: every scan is refused.")]


def _capacity(tally: Tally) -> list[Alarm]:
    found: list[Alarm] = []
    for category in tally.categories:
        activated = tally.activated_of(category.id)
        if category.capacity and activated >= category.capacity:
            found.append(Alarm(AlarmKind.FULL, f"{category.name} is full: all {category.capacity:,} places are taken."))
        elif category.capacity and activated >= NEARLY_FULL * category.capacity:
            left = category.capacity - activated
            found.append(
                Alarm(
                    AlarmKind.NEARLY_FULL,
                    f"{category.name} is nearly full: {left:,} of {category.capacity:,} places are left.",
                )
            )
    return found


def _stopped(event: Event, tally: Tally, now: datetime) -> list[Alarm]:
    """Scans fell to nothing while the doors are open: a network, or a gate, is down."""
    if tally.status != EventStatus.PUBLISHED or not event.starts_at - DOORS_OPEN_BEFORE <= now <= event.ends_at:
        return []
    # The minute under way is beside those that must be whole.
    still = STILL_MINUTES + 1
    hour = tally.last_hour(now)
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


def silent_scanners(tally: Tally, now: datetime) -> list[SilentScanner]:
    """Scanners of today that have said nothing for a while, the latest to fall silent first."""
    silent = [
        SilentScanner(one, now - one.last_at)
        for one in tally.scanners.values()
        if SILENT_AFTER < now - one.last_at <= ON_DUTY
    ]
    return sorted(silent, key=lambda one: one.silent_for)[:MOST_SILENT]
