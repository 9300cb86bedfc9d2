"""Prices: whole minor units inside, a number in major units outside; never a float in the database."""

from decimal import Decimal
from typing import Final

from gatepass.base.refusals import InvalidRequest

CURRENCIES: Final = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE
    CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF
    GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR
    LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN
    PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
    TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR
    ZMW ZWG
    """.split()
)
NO_MINOR_UNIT: Final = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
THOUSANDTHS: Final = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
TEN_THOUSANDTHS: Final = frozenset("CLF UYW".split())


LARGEST: Final = 10**12
# What Decimal carries without rounding.
PRECISION: Final = 28


def exponent(currency: str) -> int:
    """How many decimal places the currency has: JPY 0, EUR 2, KWD 3."""
    if currency in NO_MINOR_UNIT:
        return 0
    if currency in THOUSANDTHS:
        return 3
    return 4 if currency in TEN_THOUSANDTHS else 2


def to_minor(price: Decimal, currency: str) -> int:
    if currency not in CURRENCIES:
        raise InvalidRequest(f"{currency} is not an ISO 4217 currency.", param="currency")
    if not price.is_finite() or not 0 <= price <= LARGEST or len(price.as_tuple().digits) > PRECISION:
        raise InvalidRequest("A price is not negative, and has at most 28 digits.", param="price")
    minor = price.scaleb(exponent(currency))
    if minor != minor.to_integral_value():
        raise InvalidRequest(f"{currency} has {exponent(currency)} decimal places.", param="price")
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
