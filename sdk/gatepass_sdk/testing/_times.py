"""Times in the service's format."""

from datetime import UTC, datetime


def rfc3339(moment: datetime) -> str:
    """In UTC with a `Z`, with microseconds only if there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def maybe_rfc3339(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
