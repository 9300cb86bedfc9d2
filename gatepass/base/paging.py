"""A place in a list that is read page by page, in the order of a time and an id."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: the next one begins after it."""

    at: datetime
    id: UUID


# Before and after everything, for the first page.
START: Final = Place(datetime(1, 1, 1, tzinfo=UTC), UUID(int=0))
END: Final = Place(datetime(9999, 12, 31, tzinfo=UTC), UUID(int=2**128 - 1))
