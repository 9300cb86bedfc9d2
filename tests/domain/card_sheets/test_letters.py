"""Names in any script are drawn right, or with a box for each letter that the font lacks."""

import pytest

from gatepass.domain.card_sheets.letters import MISSING, is_drawable, visual


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("Zoë Öster", "Zoë Öster"),
        ("Александр", "Александр"),
        ("Ὀδυσσεύς", "Ὀδυσσεύς"),
        ("e\u0301", "é"),
        ("a\u0000b\u200bc\u202ed", "abcd"),
        ("two\nlines", "two lines"),
        ("יעל כהן", "ןהכ לעי"),
        # beh initial, alef final; in visual order
        ("با", "\ufe8e\ufe91"),
        # lam and alef are one letter
        ("لا", "\ufefb"),
        ("王小明", MISSING * 3),
        ("Anna 王", f"Anna {MISSING}"),
        ("🦄", MISSING),
    ],
)
def test_a_name_is_drawn(name: str, drawn: str) -> None:
    assert visual(name) == drawn
    assert is_drawable(name) is (MISSING not in drawn)


def test_arabic_letters_join_across_vowel_signs() -> None:
    with_sign, without = visual("بَا"), visual("با")
    assert [letter for letter in with_sign if letter != "\u064e"] == list(without)
