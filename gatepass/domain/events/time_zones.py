"""The clock on the wall at the venue, and the moments that it stands for. Pure.

Twice a year many walls do something odd: in spring they leave an hour out, in autumn they show one twice. An organizer
says a time by the wall; here it becomes a moment in UTC, or a question that must be answered first.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from gatepass.base.refusals import InvalidRequest

# Files beside the zones that are not the clock of any place.
NO_PLACES: Final = frozenset({"localtime", "posixrules", "Factory"})
REGIONS: Final = (
    "Africa/", "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/",
    "Pacific/", "UTC",
)  # fmt: skip
# Within these years every zone can be reckoned with, and a slip of the finger is noticed.
FIRST_YEAR: Final = 2000
LAST_YEAR: Final = 2100
UNKNOWN: Final = "This is not a time zone by its IANA name, such as Europe/Brussels."


class Which(StrEnum):
    """Of a time that the wall shows twice: before the clocks went back, or after."""

    FIRST = "first"
    SECOND = "second"


@cache
def known_zones() -> frozenset[str]:
    return frozenset(available_timezones()) - NO_PLACES


@cache
def offered_zones() -> tuple[str, ...]:
    """What a form offers: places, and UTC. Older names are taken too."""
    return tuple(sorted(name for name in known_zones() if name.startswith(REGIONS)))


def zone(name: str) -> ZoneInfo:
    if name not in known_zones():
        raise InvalidRequest(UNKNOWN, param="time_zone")
    return ZoneInfo(name)


def moments(wall: datetime, clock: ZoneInfo) -> list[datetime]:
    """The moments, in UTC and in order, at which the wall shows this: one as a rule, none or two on odd days."""
    candidates = {wall.replace(tzinfo=clock, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(moment for moment in candidates if on_the_wall(moment, clock) == wall.replace(fold=0))


def on_the_wall(moment: datetime, clock: ZoneInfo) -> datetime:
    return moment.astimezone(clock).replace(tzinfo=None, fold=0)


def moment_of(wall: datetime, clock: ZoneInfo, which: Which | None, *, param: str) -> datetime:
    """The one moment that is meant. Refuses a time that the wall leaves out, and asks about one that it shows twice."""
    if not FIRST_YEAR <= wall.year <= LAST_YEAR:
        raise InvalidRequest(f"The year must be from {FIRST_YEAR} to {LAST_YEAR}.", param=param)
    found = moments(wall, clock)
    if not found:
        raise InvalidRequest(_left_out(wall, clock), param=param)
    if len(found) == 1:
        return found[0]
    if which is None:
        raise InvalidRequest(
            f"Clocks in {clock.key} go back then, and show {wall:%H:%M} twice. Say which one is meant.",
            param=param,
            choices=found,
        )
    return found[0 if which is Which.FIRST else 1]


def which_of(moment: datetime, clock: ZoneInfo) -> Which | None:
    """Which of two it is; None when the wall shows this time once."""
    found = moments(on_the_wall(moment, clock), clock)
    return None if len(found) < 2 else Which.FIRST if moment == found[0] else Which.SECOND


def shifted(moment: datetime, clock: ZoneInfo, days: int) -> datetime:
    """The same time on the wall, so many days later. Where the wall leaves it out, it is as much later."""
    here = moment.astimezone(clock)
    there = here.replace(tzinfo=None) + timedelta(days=days)
    return there.replace(tzinfo=clock, fold=here.fold).astimezone(UTC)


def offset(moment: datetime, clock: ZoneInfo) -> str:
    """How far the wall is ahead of UTC: `UTC+02:00`."""
    minutes = int((moment.astimezone(clock).utcoffset() or timedelta()).total_seconds()) // 60
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _left_out(wall: datetime, clock: ZoneInfo) -> str:
    later = on_the_wall(wall.replace(tzinfo=clock, fold=0).astimezone(UTC), clock)
    return f"Clocks in {clock.key} go forward then: there is no {wall:%H:%M} on that day. {later:%H:%M} comes instead."
