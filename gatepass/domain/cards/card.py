"""A card: its number and its status.

A number is a prefix and three groups of four digits; the last digit is a Luhn check digit. People type
numbers at gates, so case, spaces and dashes are ignored.
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
SEPARATORS: Final = str.maketrans("", "", " \t-\u00a0\u2010\u2011\u2012\u2013")
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
    bare = typed.strip().translate(SEPARATORS)
    found = TYPED.fullmatch(bare.upper()) if bare.isascii() else None
    if found is None:
        return typed
    prefix, digits = found.groups()
    return f"{prefix} {digits[:4]} {digits[4:8]} {digits[8:]}"


def _check_digit(digits: str) -> str:
    """Luhn: from the right, every second digit is doubled, and the sum must end in zero."""
    return str(-sum(map(int, digits[::-2].translate(DOUBLED) + digits[-2::-2])) % 10)


def is_number(text: str) -> bool:
    """Whether this is a card number in the form that is stored, with a good check digit."""
    digits = text.partition(" ")[2].replace(" ", "")
    return STORED.fullmatch(text) is not None and _check_digit(digits[:-1]) == digits[-1]
