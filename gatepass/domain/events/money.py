"""Prices: whole minor units inside, a number in major units outside; never a float in the database."""

from datetime import date
from decimal import Decimal
from functools import cache
from typing import Final

from gatepass.base.errors import InvalidRequest
from gatepass.domain.events.countries import countries

# A currency is accepted if, by CLDR, one of the countries used it on this day. The day is fixed, so that the passing of
# time neither adds nor removes one. Move it when ISO 4217 gains or loses a code.
AS_OF: Final = date(2026, 7, 1)
# CLDR still counts BGN (withdrawn when Bulgaria took the euro), CNH (no ISO code) and XXX ("no currency").
NOT_IN_ISO_4217: Final = frozenset({"BGN", "CNH", "XXX"})
# ISO 4217 lists SVC; CLDR ends it in 2001.
ONLY_IN_ISO_4217: Final = frozenset({"SVC"})
# CLDR gives these the decimal places of daily use, which is none. Prices are stored with those of ISO 4217.
ISO_DECIMAL_PLACES: Final = {
    **dict.fromkeys("AFN ALL IRR KPW LAK LBP MGA MMK RSD SOS SYP YER".split(), 2),
    "IQD": 3,
}

# In minor units: the table holds no more.
LARGEST: Final = 10**12
# Decimal carries this many digits without rounding.
PRECISION: Final = 28


@cache
def currencies() -> frozenset[str]:
    """ISO 4217 codes of money that a price can have: no metals, no test codes."""
    from babel.numbers import get_territory_currencies  # noqa: PLC0415  `gatepass --help` should not wait for it

    used = {code for country in countries() for code in get_territory_currencies(country, AS_OF, non_tender=True)}
    return frozenset(used) - NOT_IN_ISO_4217 | ONLY_IN_ISO_4217


@cache
def exponent(currency: str) -> int:
    """How many decimal places the currency has: JPY 0, EUR 2, KWD 3. Stored prices depend on it: it must not change."""
    from babel.numbers import get_currency_precision  # noqa: PLC0415  as above

    places = ISO_DECIMAL_PLACES.get(currency)
    return get_currency_precision(currency) if places is None else places


def to_minor(price: Decimal, currency: str) -> int:
    if currency not in currencies():
        raise InvalidRequest(f"{currency} is not an ISO 4217 currency.", param="currency")
    if not price.is_finite() or not 0 <= price <= LARGEST or len(price.as_tuple().digits) > PRECISION:
        raise InvalidRequest("A price is not negative, and has at most 28 digits.", param="price")
    minor = price.scaleb(exponent(currency))
    if minor != minor.to_integral_value():
        raise InvalidRequest(f"{currency} has {exponent(currency)} decimal places.", param="price")
    if minor > LARGEST:
        most = LARGEST // 10 ** exponent(currency)
        raise InvalidRequest(f"A price in {currency} is at most {most:,}.", param="price")
    return int(minor)


def to_major(minor: int, currency: str) -> int | float:
    """A JSON number. Amounts have at most 13 digits, which a double carries exactly enough to print."""
    places = exponent(currency)
    return minor / 10**places if minor % 10**places else minor // 10**places


def exact(minor: int, currency: str) -> Decimal:
    """The amount in major units, with every place of the currency."""
    return Decimal(minor).scaleb(-exponent(currency))


def written(minor: int, currency: str) -> str:
    """The amount as people write it: 1,250.50."""
    return f"{exact(minor, currency):,f}"
