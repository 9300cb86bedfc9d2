"""Prices: what goes in comes out, to the last minor unit."""

import json
from decimal import Decimal

import pytest
from babel.numbers import get_currency_precision, get_territory_currencies
from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.errors import InvalidRequest
from gatepass.domain.events.countries import countries
from gatepass.domain.events.money import (
    AS_OF,
    ISO_DECIMAL_PLACES,
    NOT_IN_ISO_4217,
    ONLY_IN_ISO_4217,
    currencies,
    exponent,
    to_major,
    to_minor,
)

# Every currency whose minor unit is not a hundredth, by ISO 4217.
NO_MINOR_UNIT = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
THOUSANDTHS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
TEN_THOUSANDTHS = frozenset("CLF UYW".split())

some_currency = st.sampled_from(sorted(currencies()))
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


@given(amounts, some_currency)
def test_what_is_shown_is_what_is_stored(minor: int, currency: str) -> None:
    shown = json.dumps(to_major(minor, currency))
    assert to_minor(Decimal(shown), currency) == minor


@given(amounts, some_currency)
def test_a_price_that_the_currency_cannot_pay_is_refused(minor: int, currency: str) -> None:
    exact = Decimal(minor).scaleb(-exponent(currency))
    assert to_minor(exact, currency) == minor
    with pytest.raises(InvalidRequest) as refusal:
        to_minor(exact + Decimal(5).scaleb(-exponent(currency) - 1), currency)
    assert refusal.value.param == "price"


@pytest.mark.parametrize(
    "currency", ["eur", "EU", "EURO", "XXX", "BTC", "", "EUR ", "BGN", "CNH", "ANG", "DEM", "XAU", "XDR", "XTS"]
)
def test_what_is_no_currency_is_refused(currency: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        to_minor(Decimal(1), currency)
    assert refusal.value.param == "currency"


def test_every_exception_is_a_currency_and_stands_once() -> None:
    exceptions = [*NO_MINOR_UNIT, *THOUSANDTHS, *TEN_THOUSANDTHS]
    assert len(exceptions) == len(set(exceptions))
    assert set(exceptions) <= currencies()
    assert {exponent("JPY"), exponent("EUR"), exponent("KWD"), exponent("CLF")} == {0, 2, 3, 4}


def test_the_currencies_are_those_of_iso_4217() -> None:
    """Babel's data differ, and change with its releases. A change is a decision: it fails here first."""
    assert len(currencies()) == 164
    assert currencies() >= {"BOV", "CHE", "CHW", "COU", "MXV", "SVC", "USN", "UYI", "VED", "VES", "XCG", "ZWG"}
    assert currencies().isdisjoint(NOT_IN_ISO_4217)


def test_no_release_of_babel_changes_a_stored_price() -> None:
    hundredths = currencies() - NO_MINOR_UNIT - THOUSANDTHS - TEN_THOUSANDTHS
    assert {code: exponent(code) for code in currencies()} == {
        **dict.fromkeys(NO_MINOR_UNIT, 0),
        **dict.fromkeys(hundredths, 2),
        **dict.fromkeys(THOUSANDTHS, 3),
        **dict.fromkeys(TEN_THOUSANDTHS, 4),
    }
    assert len(hundredths) == 138


def test_every_correction_is_still_needed() -> None:
    """One that Babel's own data make needless can go."""
    used = {code for country in countries() for code in get_territory_currencies(country, AS_OF, non_tender=True)}
    assert used >= NOT_IN_ISO_4217
    assert used.isdisjoint(ONLY_IN_ISO_4217)
    assert [code for code, places in ISO_DECIMAL_PLACES.items() if get_currency_precision(code) == places] == []
