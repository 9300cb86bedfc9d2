"""Arguments of a call, in the form that a request needs."""

from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4


class Unchanged(Enum):
    """The default of a field that a change leaves as it is. None clears the field."""

    UNCHANGED = "unchanged"

    def __repr__(self) -> str:
        return self.name


UNCHANGED: Final = Unchanged.UNCHANGED


def segment(value: str) -> str:
    """Any text as one segment of a path."""
    return quote(value, safe="")


def without_none(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def changes(**fields: Any) -> dict[str, Any]:
    """The fields that are to be changed, times and amounts as JSON has them."""
    return {name: _plain(value) for name, value in fields.items() if value is not UNCHANGED}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_time(value)
    return format_amount(value) if isinstance(value, Decimal) else value


def format_amount(price: Decimal | float) -> float:
    """A JSON number. Its shortest text is the amount again, with up to 15 digits."""
    return float(price) if isinstance(price, Decimal) else price


def new_key(given: str | None) -> str:
    """The idempotency key of a call: made once, and sent with every try."""
    return given or str(uuid4())


def format_time(moment: datetime | None) -> str | None:
    """The time in RFC 3339. A time without a zone is an error, because a gate's local time is ambiguous."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise ValueError("Give the time with its zone, such as datetime.now(UTC).")
    return moment.isoformat()
