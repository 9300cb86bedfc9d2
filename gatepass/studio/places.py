"""Where a page of a list begins, as it stands in an address."""

from datetime import timedelta
from typing import Final

from gatepass.base.clock import EPOCH
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place

MICROSECOND: Final = timedelta(microseconds=1)
# Until the year 5138, which PostgreSQL's driver can still write.
MOST_DIGITS: Final = 17


def place_text(place: Place) -> str:
    return f"{(place.at - EPOCH) // MICROSECOND}.{place.id}"


def place_of(text: str) -> Place | None:
    """The place, or nothing: an address that somebody made up begins at the beginning."""
    micros, _, id = text.partition(".")
    found = strict_uuid(id)
    if found is None or not (micros.isascii() and micros.isdigit() and len(micros) <= MOST_DIGITS):
        return None
    return Place(EPOCH + int(micros) * MICROSECOND, found)
