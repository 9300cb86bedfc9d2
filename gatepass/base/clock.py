"""The clock is an argument, so that tests can set it. The time of its last change is the version of an object.

`ClockSkew` is how far the clock of this machine is from PostgreSQL's. Nobody can say which of the two is wrong. A
process whose clock differs decides by it all the same: which codes have expired, which doors are open.
"""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from gatepass.base.errors import ChangedMeanwhile

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Beyond this a process is not ready. Pages of `GET /scans` wait for scans of processes that are as far behind.
READY_WITHIN: Final = timedelta(seconds=5)
NO_SKEW: Final = timedelta()
# The name of the metric, and what it says.
SKEW_METRIC: Final = (
    "gatepass_clock_skew_seconds",
    "How far the clock of this machine is ahead of PostgreSQL's, at least; negative if it is behind",
)

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


class ClockSkew:
    def __init__(self, own: Clock = system_clock) -> None:
        self.own = own
        # How far the machine's clock is ahead of PostgreSQL's, at least; negative if it is behind. It is that of the
        # middle between question and answer, less half of the time between them: a slow answer is no difference.
        self.ahead = NO_SKEW

    def measure(self, asked: datetime, server: datetime) -> None:
        """PostgreSQL was asked at this time of `own`, said that it was `server`, and has answered now."""
        self.ahead = max(asked - server, NO_SKEW) or min(self.own() - server, NO_SKEW)

    def seconds(self) -> float:
        return self.ahead.total_seconds()

    def trouble(self) -> str | None:
        """Why this process must not serve; None if the clocks agree, or were not compared yet."""
        return f"{self.difference()} See that both follow NTP." if abs(self.ahead) > READY_WITHIN else None

    def difference(self) -> str:
        way = "ahead of" if self.ahead > NO_SKEW else "behind"
        return f"The clock of this machine is {abs(self.seconds()):.1f} s {way} PostgreSQL's."
