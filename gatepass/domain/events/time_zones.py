"""Local time at the venue, and the moments in UTC that it stands for. Pure.

Twice a year many clocks change: in spring an hour does not exist, in autumn one comes twice. An organizer types a local
time; here it becomes a moment in UTC, or a refusal with the two choices.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from gatepass.base.errors import InvalidRequest

# Files of the database that are no time zone of a place.
NO_PLACES: Final = frozenset({"localtime", "posixrules", "Factory"})
REGIONS: Final = (
    "Africa/", "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/",
    "Pacific/", "UTC",
)  # fmt: skip
# Every zone can be computed within these years, and a mistyped year is refused.
FIRST_YEAR: Final = 2000
LAST_YEAR: Final = 2100
UNKNOWN: Final = (
    "We do not know this time zone. Type its largest city, such as Brussels, or its IANA name, Europe/Brussels."
)


class Fold(StrEnum):
    """Of a local time that comes twice: before the clocks went back, or after. PEP 495 calls it fold."""

    FIRST = "first"
    SECOND = "second"


@cache
def known_zones() -> frozenset[str]:
    return frozenset(available_timezones()) - NO_PLACES


@cache
def offered_zones() -> tuple[str, ...]:
    """The zones that a form offers: places, and UTC. Older names are accepted too."""
    return tuple(sorted(name for name in known_zones() if name.startswith(REGIONS)))


def found_zone(typed: str) -> str | None:
    """The IANA name of what somebody typed: the name, in any case, or its city. Cities of one name have one time."""
    text = "_".join(typed.split()).casefold()
    return typed if typed in known_zones() else _by_name().get(text) or _by_city().get(text)


@cache
def _by_name() -> dict[str, str]:
    return {name.casefold(): name for name in known_zones()}


@cache
def _by_city() -> dict[str, str]:
    return {name.rpartition("/")[2].casefold(): name for name in reversed(offered_zones())}


def zone(name: str) -> ZoneInfo:
    if name not in known_zones():
        raise InvalidRequest(UNKNOWN, param="time_zone")
    return ZoneInfo(name)


def moments(local: datetime, clock: ZoneInfo) -> list[datetime]:
    """The moments of this local time, in UTC and in order: one as a rule, none or two when the clocks change."""
    candidates = {local.replace(tzinfo=clock, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return sorted(moment for moment in candidates if local_time(moment, clock) == local.replace(fold=0))


def local_time(moment: datetime, clock: ZoneInfo) -> datetime:
    return moment.astimezone(clock).replace(tzinfo=None, fold=0)


def to_moment(local: datetime, clock: ZoneInfo, fold: Fold | None, *, param: str) -> datetime:
    """The moment of this local time. Refuses one that does not exist, and one that comes twice if `fold` is None."""
    if not FIRST_YEAR <= local.year <= LAST_YEAR:
        raise InvalidRequest(f"The year must be from {FIRST_YEAR} to {LAST_YEAR}.", param=param)
    found = moments(local, clock)
    if not found:
        raise InvalidRequest(_nonexistent(local, clock), param=param)
    if len(found) == 1:
        return found[0]
    if fold is None:
        raise InvalidRequest(
            f"Clocks in {clock.key} go back then, and show {local:%H:%M} twice. Say which one is meant.",
            param=param,
            choices=found,
        )
    return found[0 if fold is Fold.FIRST else 1]


def fold_of(moment: datetime, clock: ZoneInfo) -> Fold | None:
    """The fold of this moment; None if its local time comes once."""
    found = moments(local_time(moment, clock), clock)
    return None if len(found) < 2 else Fold.FIRST if moment == found[0] else Fold.SECOND


def shifted(moment: datetime, clock: ZoneInfo, days: int) -> datetime:
    """The same local time `days` later. If it does not exist there, it is as much later as the clocks skip."""
    here = moment.astimezone(clock)
    there = here.replace(tzinfo=None) + timedelta(days=days)
    return there.replace(tzinfo=clock, fold=here.fold).astimezone(UTC)


def offset(moment: datetime, clock: ZoneInfo) -> str:
    """The offset from UTC: `UTC+02:00`."""
    minutes = int((moment.astimezone(clock).utcoffset() or timedelta()).total_seconds()) // 60
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _nonexistent(local: datetime, clock: ZoneInfo) -> str:
    later = local_time(local.replace(tzinfo=clock, fold=0).astimezone(UTC), clock)
    return f"Clocks in {clock.key} go forward then: there is no {local:%H:%M} on that day. {later:%H:%M} comes instead."
