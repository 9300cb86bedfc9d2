"""The text of a position in a list: it can be read back, and no other text is read."""

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.clock import EPOCH
from gatepass.base.paging import Place, cursor_text, read_cursor_text

ID = UUID("01890000-0000-7000-8000-000000000001")
# From 1970 to the year 9999.
MICROS = st.integers(0, 253_402_300_799_999_999)


@given(MICROS, st.uuids())
def test_a_place_is_read_as_it_was_written(micros: int, id: UUID) -> None:
    place = Place(EPOCH + timedelta(microseconds=micros), id)
    assert place.micros == micros
    found = read_cursor_text(cursor_text(place.micros, place.id), digits=18)
    assert found is not None
    assert Place.of(*found) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        f".{ID}",
        str(ID),
        f"-1.{ID}",
        f"1.5.{ID}",
        f" 1.{ID}",
        f"²3.{ID}",
        f"1.{{{ID}}}",
        f"1.{ID}.1",
        f"1000.{ID}",
    ],
)
def test_other_text_is_not_a_place(text: str) -> None:
    assert read_cursor_text(text, digits=3) is None


def test_a_time_after_the_year_9999_is_an_overflow() -> None:
    with pytest.raises(OverflowError):
        Place.of(10**18 - 1, ID)
