"""Arguments of a call, in the form that a request needs."""

from datetime import datetime
from typing import Any
from urllib.parse import quote


def segment(value: str) -> str:
    """Any text as one segment of a path."""
    return quote(value, safe="")


def without_none(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def format_time(moment: datetime | None) -> str | None:
    """The time in RFC 3339. A time without a zone is an error, because a gate's local time is ambiguous."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise ValueError("Give the time with its zone, such as datetime.now(UTC).")
    return moment.isoformat()
