"""Card numbers: mistyped digits are noticed; case, spaces and dashes are ignored."""

import string
from collections.abc import Callable, Iterator

from hypothesis import given
from hypothesis import strategies as st

from gatepass.domain.cards import format_number, is_number, normalize_number

prefixes = st.text(string.ascii_uppercase, min_size=2, max_size=6)
serials = st.integers(0, 10**11 - 1)
numbers = st.builds(format_number, prefixes, serials)


def digits_of(number: str) -> str:
    return number.partition(" ")[2].replace(" ", "")


def with_digits(number: str, digits: str) -> str:
    return f"{number.partition(' ')[0]} {digits[:4]} {digits[4:8]} {digits[8:]}"


def wrong_digits(digits: str) -> Iterator[str]:
    for place, digit in enumerate(digits):
        for other in string.digits.replace(digit, ""):
            yield digits[:place] + other + digits[place + 1 :]


def swapped_digits(digits: str) -> Iterator[str]:
    """Neighbours in the wrong order, except 09 and 90, which Luhn cannot tell apart."""
    for place in range(len(digits) - 1):
        one, other = digits[place], digits[place + 1]
        if one != other and {one, other} != {"0", "9"}:
            yield digits[:place] + other + one + digits[place + 2 :]


@given(prefixes, serials)
def test_a_number_is_a_prefix_and_three_groups_of_four(prefix: str, serial: int) -> None:
    number = format_number(prefix, serial)
    assert [len(group) for group in number.split(" ")] == [len(prefix), 4, 4, 4]
    assert digits_of(number)[:-1] == f"{serial:011d}"
    assert is_number(number)


@given(numbers)
def test_every_wrong_digit_is_noticed(number: str) -> None:
    assert not any(is_number(with_digits(number, wrong)) for wrong in wrong_digits(digits_of(number)))


@given(numbers)
def test_neighbours_that_change_places_are_noticed(number: str) -> None:
    assert not any(is_number(with_digits(number, wrong)) for wrong in swapped_digits(digits_of(number)))


def test_a_plain_sum_would_not_notice() -> None:
    """The same checks with a weaker check digit: the test above is able to fail."""

    def plain(digits: str) -> str:
        return str(-sum(map(int, digits)) % 10)

    def is_good(digits: str, check: Callable[[str], str]) -> bool:
        return check(digits[:-1]) == digits[-1]

    digits = "12345678901" + plain("12345678901")
    assert not any(is_good(wrong, plain) for wrong in wrong_digits(digits))
    assert any(is_good(wrong, plain) for wrong in swapped_digits(digits))


@given(numbers)
def test_09_and_90_are_all_that_luhn_cannot_tell_apart(number: str) -> None:
    digits = digits_of(number)
    for place in range(len(digits) - 1):
        if {digits[place], digits[place + 1]} == {"0", "9"}:
            swapped = digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]
            assert is_number(with_digits(number, swapped))


@given(numbers, st.data())
def test_case_spaces_and_dashes_are_forgiven(number: str, data: st.DataObject) -> None:
    typed = "".join(
        data.draw(st.sampled_from([character, character.lower()]))
        + data.draw(st.text(" -\t\N{NO-BREAK SPACE}\N{HYPHEN}\N{EN DASH}", max_size=2))
        for character in number.replace(" ", "")
    )
    assert normalize_number(typed) == number


@given(st.text(max_size=40))
def test_what_is_not_a_number_stays_as_it_was_typed(typed: str) -> None:
    assert normalize_number(normalize_number(typed)) == normalize_number(typed)
    if not any(character.isdigit() for character in typed):
        assert normalize_number(typed) == typed


def test_what_no_keyboard_at_a_gate_writes_is_no_digit() -> None:
    for typed in (
        "SVC \N{DEVANAGARI DIGIT ONE}234 5678 9017",
        "SVC \N{SUPERSCRIPT ONE}234 5678 9017",
        "SVC 1234 5678 901",
        "S 1234 5678 9017",
        "",
    ):
        assert normalize_number(typed) == typed


def test_a_number_without_twelve_digits_has_no_good_check_digit() -> None:
    for number in ("", "SVC", "SVC 1234", "SVC 1234 5678 9017 0"):
        assert not is_number(number)
