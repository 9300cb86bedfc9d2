"""The clock is an argument, so that tests can set it. The time of its last change is the version of an object."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from gatepass.base.errors import ChangedMeanwhile

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """The moment in UTC with a `Z`, microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def with_offset(moment: datetime, zone: str) -> str:
    """The moment as clocks show it there, with the offset from UTC: for people, and still for programs."""
    return moment.astimezone(ZoneInfo(zone)).isoformat(timespec="seconds").replace("+00:00", "Z")


def version_of(updated_at: datetime) -> str:
    """The version of an object, in microseconds since 1970: its ETag in the API, a hidden field in the studio."""
    return str((updated_at - EPOCH) // timedelta(microseconds=1))


def require_version(updated_at: datetime, seen: Collection[str] | None) -> None:
    """Refuse if the version is none of those that were seen. The row must be locked. None: the caller does not mind."""
    if seen is not None and version_of(updated_at) not in seen:
        raise ChangedMeanwhile
