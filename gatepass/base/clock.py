"""The clock is an argument, so that tests can set it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """The moment in UTC with a `Z`, microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
