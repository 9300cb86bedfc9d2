"""Prices: what goes in comes out, to the last minor unit."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.refusals import InvalidRequest
from gatepass.domain.events.money import (
    CURRENCIES,
    NO_MINOR_UNIT,
    TEN_THOUSANDTHS,
    THOUSANDTHS,
    exponent,
    to_major,
    to_minor,
)

currencies = st.sampled_from(sorted(CURRENCIES))
# As much as the column takes.
amounts = st.integers(0, 10**12)


@pytest.mark.parametrize(
    ("minor", "currency", "shown"),
    [
        (2550, "EUR", "25.5"),
        (2500, "EUR", "25"),
        (1, "USD", "0.01"),
        (0, "EUR", "0"),
        (2550, "JPY", "2550"),
        (2550, "KWD", "2.55"),
        (25501, "KWD", "25.501"),
        (10**12 - 1, "EUR", "9999999999.99"),
        (10**12 - 1, "CLF", "99999999.9999"),
    ],
)
def test_a_price_is_a_json_number_in_major_units(minor: int, currency: str, shown: str) -> None:
    assert json.dumps(to_major(minor, currency)) == shown


@given(amounts, currencies)
def test_what_is_shown_is_what_is_stored(minor: int, currency: str) -> None:
    shown = json.dumps(to_major(minor, currency))
    assert to_minor(Decimal(shown), currency) == minor


@given(amounts, currencies)
def test_a_price_that_the_currency_cannot_pay_is_refused(minor: int, currency: str) -> None:
    exact = Decimal(minor).scaleb(-exponent(currency))
    assert to_minor(exact, currency) == minor
    with pytest.raises(InvalidRequest) as refusal:
        to_minor(exact + Decimal(5).scaleb(-exponent(currency) - 1), currency)
    assert refusal.value.param == "price"


@pytest.mark.parametrize("currency", ["eur", "EU", "EURO", "XXX", "BTC", "", "EUR "])
def test_what_is_no_currency_is_refused(currency: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        to_minor(Decimal(1), currency)
    assert refusal.value.param == "currency"


def test_every_exception_is_a_currency_and_stands_once() -> None:
    exceptions = [*NO_MINOR_UNIT, *THOUSANDTHS, *TEN_THOUSANDTHS]
    assert len(exceptions) == len(set(exceptions))
    assert set(exceptions) <= CURRENCIES
    assert {exponent("JPY"), exponent("EUR"), exponent("KWD"), exponent("CLF")} == {0, 2, 3, 4}
