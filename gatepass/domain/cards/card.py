"""A card: its number and its status.

A number is a prefix and three groups of four digits; the last digit is a Luhn check digit. People type
numbers at gates, or copy them from a PDF, so case, spaces and dashes are
ignored, and digits of other keyboards are read.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.errors import Refusal

TYPED: Final = re.compile(r"([A-Z]{2,6})(\d{12})", re.ASCII)
STORED: Final = re.compile(r"[A-Z]{2,6} \d{4} \d{4} \d{4}", re.ASCII)
# Digits and letters of Arabic, Persian and East Asian keyboards.
WIDE: Final = (0x660, 0x30, 10), (0x6F0, 0x30, 10), (0xFF10, 0x30, 10), (0xFF21, 0x41, 26), (0xFF41, 0x61, 26)
# U+2000 to U+2015 are blanks, marks without a width and dashes.
OTHERS: Final = " \t-\u00a0\u00ad\u1680\u202f\u205f\u2060\u2212\u3000\ufe58\ufe63\ufeff\uff0d"
SEPARATORS: Final = [*range(0x2000, 0x2016), *map(ord, OTHERS)]
SPELLINGS: Final[dict[int, str | None]] = {
    **{wide + place: chr(plain + place) for wide, plain, count in WIDE for place in range(count)},
    **dict.fromkeys(SEPARATORS),
}
SERIALS: Final = 10**11
# The digit sum of twice each digit.
DOUBLED: Final = str.maketrans("0123456789", "0246813579")


class CardStatus(StrEnum):
    ACTIVE = "active"
    SUSPENDED = "suspended"
    REVOKED = "revoked"


class CardNotFound(Refusal):
    """There is no such card."""

    code = "card_not_found"


class CardSuspended(Refusal):
    """This card is suspended."""

    code = "card_suspended"


class CardRevoked(Refusal):
    """This card has been revoked."""

    code = "card_revoked"


class CardNumberTaken(Refusal):
    """There is a card with this number already."""

    code = "card_number_taken"


class HolderHasCard(Refusal):
    """This e-mail address has another card."""

    code = "holder_has_card"


class ExternalIdTaken(Refusal):
    """This external_id was used with other content."""

    code = "external_id_taken"


@dataclass(frozen=True, slots=True)
class Card:
    id: UUID
    number: str
    status: CardStatus
    issued_at: datetime


def format_number(prefix: str, serial: int) -> str:
    """The card number with this serial, its check digit added: `SVC 1234 5678 9017`."""
    digits = f"{serial:011d}"
    digits += _check_digit(digits)
    return f"{prefix} {digits[:4]} {digits[4:8]} {digits[8:]}"


def normalize_number(typed: str) -> str:
    """A typed card number in the form that is stored. Text that cannot be a card number is returned unchanged."""
    # Only ASCII has one upper case: elsewhere `ß` becomes `SS`.
    bare = bare_text(typed)
    found = TYPED.fullmatch(bare.upper()) if bare.isascii() else None
    if found is None:
        return typed
    prefix, digits = found.groups()
    return f"{prefix} {digits[:4]} {digits[4:8]} {digits[8:]}"


def bare_text(typed: str) -> str:
    """What was typed, in plain digits and letters, without what stands between them."""
    return typed.strip().translate(SPELLINGS)


def _check_digit(digits: str) -> str:
    """Luhn: from the right, every second digit is doubled, and the sum must end in zero."""
    return str(-sum(map(int, digits[::-2].translate(DOUBLED) + digits[-2::-2])) % 10)


def is_number(text: str) -> bool:
    """Whether this is a card number in the form that is stored, with a good check digit."""
    digits = text.partition(" ")[2].replace(" ", "")
    return STORED.fullmatch(text) is not None and _check_digit(digits[:-1]) == digits[-1]
