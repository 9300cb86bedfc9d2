"""The letter of a cell in what comes back: one shape, told apart from everything older."""

import re
import secrets
import string

from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.ids import new_id
from gatepass.domain.cell import new_token, with_letter, without_letter

letters = st.sampled_from(string.ascii_lowercase)


@given(letters)
def test_a_token_begins_with_its_letter(cell: str) -> None:
    assert re.fullmatch(cell + r"\.[A-Za-z0-9_-]{43}", new_token(cell), re.ASCII)


@given(letters, st.text())
def test_a_letter_is_taken_off_again(cell: str, rest: str) -> None:
    assert without_letter(with_letter(cell, rest)) == rest


def test_what_is_older_than_letters_has_none() -> None:
    """A token of base64url has no dot, and no picture's id has its first dot behind one letter."""
    for old in (*(secrets.token_urlsafe(32) for _ in range(1_000)), str(new_id()), f"{new_id()}.png"):
        assert without_letter(old) == old
