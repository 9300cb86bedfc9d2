"""The card of a scan, read without a network: a card number and a token of it are the same card."""

import re
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from typing import Final

from gatepass_sdk._phone_code import PREFIX, number_shown

# The service accepts any case, spaces and dashes in a typed number, and the digits and letters of other keyboards.
TYPED: Final = re.compile(r"([A-Z]{2,6})(\d{12})", re.ASCII)
WIDE: Final = (0x660, 0x30, 10), (0x6F0, 0x30, 10), (0xFF10, 0x30, 10), (0xFF21, 0x41, 26), (0xFF41, 0x61, 26)
OTHERS: Final = " \t-\u00a0\u00ad\u1680\u202f\u205f\u2060\u2212\u3000\ufe58\ufe63\ufeff\uff0d"
SEPARATORS: Final = [*range(0x2000, 0x2016), *map(ord, OTHERS)]
SPELLINGS: Final[dict[int, str | None]] = {
    **{wide + place: chr(plain + place) for wide, plain, count in WIDE for place in range(count)},
    **dict.fromkeys(SEPARATORS),
}
SANDBOX_TOKEN: Final = re.compile(r"SVC1\.([A-Z_]{1,32})\.0\.0", re.ASCII)
UNREADABLE: Final = "unreadable token"


def card_shown(card_number: str | None, token: str | None) -> str:
    """The number of the card. The token is not verified here; the service does that."""
    return number_in(token) if token is not None else as_stored(card_number or "")


def as_stored(typed: str) -> str:
    """`svc-1234-5678-9012` is the card `SVC 1234 5678 9012`. Any other text stays as it is."""
    bare = typed.strip().translate(SPELLINGS)
    found = TYPED.fullmatch(bare.upper()) if bare.isascii() else None
    if found is None:
        return typed
    prefix, digits = found.groups()
    return f"{prefix} {digits[:4]} {digits[4:8]} {digits[8:]}"


def number_in(token: str) -> str:
    """The card number in the second part of a token or a phone's code."""
    if token.startswith(PREFIX):
        return number_shown(token) or UNREADABLE
    if sandbox := SANDBOX_TOKEN.fullmatch(token):
        return sandbox[1]
    _, _, rest = token.partition(".")
    encoded = rest.partition(".")[0]
    try:
        number = as_stored(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("ascii"))
    except (NotBase64, ValueError):
        return UNREADABLE
    return number if number.isprintable() and number else UNREADABLE
