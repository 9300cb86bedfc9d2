"""The queue takes two spellings for one card if the service does."""

import json
import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gatepass.domain import cards
from gatepass_sdk._card import UNREADABLE, as_stored, card_shown, number_in
from tests.sdk.stack import Stack

CASES = json.loads((Path(__file__).parents[3] / "sdk" / "cases" / "numbers.json").read_text())
LETTERS = "svcSVC0123456789 -\t\u2010\u2013\u00a0ß٣\u06f4\uff11\uff33\u202f\u2212\u200b\u202e"
TYPED = st.text(st.sampled_from(LETTERS), max_size=24)
NEARLY = st.from_regex(r"\s*[a-zA-Z]{1,7}[ \-]?[0-9]{4}[ \-]?[0-9]{4}[ \-]?[0-9]{3,5}\s*", fullmatch=True)


@given(TYPED | NEARLY)
def test_what_is_typed_is_read_as_the_service_reads_it(typed: str) -> None:
    assert as_stored(typed) == cards.normalize_number(typed)


def test_every_spelling_of_a_number_is_read_as_written() -> None:
    for read in (as_stored, cards.normalize_number):
        assert {read(text) for text in CASES["spellings"]} == {CASES["stored"]}
        assert [read(text) for text in CASES["unchanged"]] == CASES["unchanged"]


def test_a_number_and_a_token_are_the_same_card(stack: Stack) -> None:
    for card in random.Random(1).sample(stack.demo["cards"]["unused"], 20):
        number, token = card["card_number"], card["token"]
        assert card_shown(None, token) == card_shown(number, None) == number
        assert card_shown(number.lower().replace(" ", "-"), None) == number


def test_the_sandbox_has_names_for_numbers() -> None:
    assert card_shown(None, "SVC1.TEST_VIP.0.0") == card_shown("TEST_VIP", None) == "TEST_VIP"


def test_a_token_that_cannot_be_read_is_never_shown_as_a_card() -> None:
    for token in ("", "SVC1", "SVC1.", "SVC1.!!.1.x", "SVC1.AAAA.1.x", "SVC1._____.1.x", "x" * 500):
        assert number_in(token) == UNREADABLE
