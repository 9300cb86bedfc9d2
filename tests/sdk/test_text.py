"""The fake takes the text that the service takes: every code point, and every case of sdk/cases/names.json."""

from itertools import chain

from gatepass.base import text
from gatepass_sdk.testing._platform.text import is_line
from tests.domain.cards.names import ACCEPTED, REFUSED

# All that have characters, and the ends of the planes that have none.
CODE_POINTS = chain(range(0x32000), range(0x3FFF0, 0x40010), range(0xDFFF0, 0xF0010), range(0x10FFF0, 0x110000))


def test_names_are_taken_or_not_as_written() -> None:
    assert all(map(is_line, ACCEPTED))
    assert not any(map(is_line, REFUSED))


def test_every_code_point_is_judged_as_the_service_judges_it() -> None:
    for character in map(chr, CODE_POINTS):
        assert is_line(character) is text.is_line(character), hex(ord(character))
        assert is_line(f"a{character}") is text.is_line(f"a{character}"), hex(ord(character))
