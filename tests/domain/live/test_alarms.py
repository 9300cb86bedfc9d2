"""Alarms of a live event."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from gatepass.domain.events import Event, EventStatus
from gatepass.domain.live import AlarmKind, LiveCategory, Minute, Scanner, Totals, alarms, silent_scanners

NOW = datetime(2026, 7, 1, 20, 30, 15, tzinfo=UTC)
ID = UUID(int=1)
EVENT = Event(
    ID, "Night", None, None, None, None, NOW - timedelta(hours=1), NOW + timedelta(hours=3), None, EventStatus.PUBLISHED
)


def totals(*, capacity: int = 100, activated: int = 0, status: str = "published") -> Totals:
    made = Totals("1:1:", 1, status, [LiveCategory(ID, "General", "standard", capacity, capacity)])
    made.activated = Counter({(ID, "North"): activated})
    return made


def kinds(of: Totals, now: datetime = NOW) -> list[AlarmKind]:
    return [one.kind for one in alarms(EVENT, of, now)]


@pytest.mark.parametrize(
    ("activated", "expected"),
    [(0, []), (89, []), (90, [AlarmKind.NEARLY_FULL]), (99, [AlarmKind.NEARLY_FULL]), (100, [AlarmKind.FULL])],
)
def test_a_category_fills_up(activated: int, expected: list[AlarmKind]) -> None:
    assert kinds(totals(activated=activated)) == expected


def test_a_category_without_places_is_not_full() -> None:
    assert kinds(totals(capacity=0)) == []


def test_an_event_that_is_not_published_refuses_every_scan() -> None:
    assert kinds(totals(status="draft")) == [AlarmKind.NOT_PUBLISHED]


def quiet_for(minutes: int, *, before: int = 5) -> Totals:
    made = totals()
    this = NOW.replace(second=0)
    made.minutes = {
        at: Minute(at, before, 0) for at in (this - timedelta(minutes=n) for n in range(minutes, minutes + 10))
    }
    return made


@pytest.mark.parametrize(
    ("made", "stopped"),
    [
        (quiet_for(0), False),
        (quiet_for(2), False),
        (quiet_for(3), True),
        (quiet_for(3, before=1), False),
        (quiet_for(25), False),
    ],
)
def test_scans_that_fall_to_nothing(made: Totals, stopped: bool) -> None:
    assert kinds(made) == [AlarmKind.STOPPED] * stopped


@pytest.mark.parametrize("hours", [-6, 4])
def test_nothing_has_stopped_while_the_doors_are_shut(hours: int) -> None:
    made, now = quiet_for(3), NOW + timedelta(hours=hours)
    made.minutes = {at + timedelta(hours=hours): one for at, one in made.minutes.items()}
    assert kinds(made, now) == []


def test_silent_scanners_are_those_of_today_that_say_nothing_for_five_minutes() -> None:
    made = totals()
    for name, minutes in (("talks", 4), ("silent", 6), ("long silent", 700), ("gone home", 800)):
        made.scanners[name] = Scanner(name, "North", NOW - timedelta(minutes=minutes), 1)
    assert [one.scanner.id for one in silent_scanners(made, NOW)] == ["silent", "long silent"]
