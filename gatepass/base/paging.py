"""A position in a list that is read page by page, in the order of a time and an id; its text in cursors and URLs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.clock import EPOCH
from gatepass.base.ids import strict_uuid

MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Place:
    """The end of a page: the next page begins after it."""

    at: datetime
    id: UUID

    @classmethod
    def of(cls, micros: int, id: UUID) -> "Place":
        """OverflowError for a time after the year 9999."""
        return cls(EPOCH + micros * MICROSECOND, id)

    @property
    def micros(self) -> int:
        """Microseconds since 1970."""
        return (self.at - EPOCH) // MICROSECOND


# Before and after everything, for the first page.
START: Final = Place(datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))
END: Final = Place(datetime(9999, 12, 31, tzinfo=UTC), UUID(int=2**128 - 1))


def cursor_text(number: int, id: UUID) -> str:
    return f"{number}.{id}"


def read_cursor_text(text: str, *, digits: int) -> tuple[int, UUID] | None:
    """The number and the id; None for any text that is not a number of at most `digits` digits, a dot and a UUID."""
    number, _, id = text.partition(".")
    found = strict_uuid(id)
    if found is None or not (number.isascii() and number.isdigit() and len(number) <= digits):
        return None
    return int(number), found
