"""The fake and the service answer every case of sdk/cases/addresses.json alike."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from gatepass.domain.cards import is_email, normalize_email
from gatepass_sdk.testing._platform import addresses

FILE: Final = Path(__file__).parents[2] / "sdk" / "cases" / "addresses.json"
CASES: Final[dict[str, list[list[str]]]] = json.loads(FILE.read_text())


@pytest.mark.parametrize("normalized", [normalize_email, addresses.normalized])
def test_spellings_of_one_address_are_of_one_person(normalized: "type[str]") -> None:
    for spellings in CASES["same"]:
        assert len({normalized(text) for text in spellings}) == 1, spellings
        assert all(normalized(normalized(text)) == normalized(text) for text in spellings)
    for spellings in CASES["different"]:
        for one, other in pairwise(spellings):
            assert normalized(one) != normalized(other)


@pytest.mark.parametrize("checked", [is_email, addresses.is_email])
def test_what_is_no_address_is_refused(checked: "type[bool]") -> None:
    assert all(checked(text.strip()) for kind in ("same", "different") for texts in CASES[kind] for text in texts)
    assert not any(checked(text) for text in json.loads(FILE.read_text())["refused"])


def test_every_letter_gets_the_form_that_the_service_gives_it() -> None:
    for character in map(chr, range(0x80, 0x3000)):
        for address in (f"a{character}@x.example", f"ann@a{character}.example"):
            assert addresses.normalized(address) == normalize_email(address)
            assert addresses.is_email(address) is is_email(address), ascii(address)
