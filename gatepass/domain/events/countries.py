"""Countries: ISO 3166-1 alpha-2 codes with English names, from Babel's copy of CLDR."""

from functools import cache
from typing import Final

# CLDR also names islands without a code of their own, unions, test data, and Kosovo, which ISO 3166-1 does not list.
NOT_IN_ISO_3166: Final = frozenset("AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ".split())
# CLDR's names for these are longer, or name a capital instead of the state.
OUR_NAMES: Final = {
    "CD": "Congo, Democratic Republic",
    "CG": "Congo",
    "HK": "Hong Kong",
    "MO": "Macau",
    "PS": "Palestine",
}


@cache
def countries() -> dict[str, str]:
    """Map each accepted code to its name. The first call reads CLDR's data for English: 20 ms and 5 MB."""
    from babel.core import Locale  # noqa: PLC0415  `gatepass --help` should not wait for it

    names = {str(code): str(name) for code, name in Locale("en").territories.items()}
    # Codes of three digits are regions: 001 is the world.
    return {code: name for code, name in names.items() if len(code) == 2 and code not in NOT_IN_ISO_3166} | OUR_NAMES
