"""How arguments are written into a request."""

from datetime import datetime
from typing import Any
from urllib.parse import quote


def segment(value: str) -> str:
    """One segment of a path, whatever is in it."""
    return quote(value, safe="")


def given(**fields: Any) -> dict[str, Any]:
    """The fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def written(moment: datetime | None) -> str | None:
    """RFC 3339. A time without a zone is refused: a gate's local time is not a moment."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise ValueError("Give the time with its zone, such as datetime.now(UTC).")
    return moment.isoformat()
