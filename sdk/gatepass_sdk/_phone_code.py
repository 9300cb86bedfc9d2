"""Codes that a phone makes itself: `SVC2.<certificate>.<Unix seconds>.<the phone's signature>`.

The organization signs the certificate, which binds the phone's key to a card; the phone signs the code. A gate needs
the organization's public keys alone. There is one spelling of each part, as the service has it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gatepass_sdk import _ed25519

PREFIX: Final = "SVC2."
LONGEST: Final = 311
# Seconds, either way.
TOLERANCE: Final = 60
CONTEXT: Final = b"svc2-certificate\0"
PATTERN: Final = re.compile(r"(SVC2\.([A-Z2-7]{184,191})\.([1-9][0-9]{9}))\.([A-Z2-7]{103})", re.ASCII)
# From the digits of base32 to those that `int` reads. The pattern lets no other character through.
INT_DIGITS: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHIJKLMNOPQRSTUV")
NUMBER: Final = re.compile(r"([A-Z]{2,6})([0-9]{4})([0-9]{4})([0-9]{4})", re.ASCII)


@dataclass(frozen=True)
class PhoneCode:
    card_number: str
    phone: int
    made_at: int
    expires_at: int

    def is_expired(self, moment: float) -> bool:
        return abs(self.made_at - moment) > TOLERANCE or self.expires_at <= moment


def read_phone_code(text: str, keys: Iterable[bytes]) -> PhoneCode | None:
    """The code, if its phone signed it and one of these keys signed the phone's certificate."""
    found = PATTERN.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return None
    signed, certificate, made_at, signature = found.groups()
    raw, phone_signature = _decoded(certificate), _decoded(signature)
    if raw is None or phone_signature is None:
        return None
    body, organization_signature = raw[:-64], raw[-64:]
    number, expiry, phone, key = number_of(body), body[-37:-33], body[-33], body[-32:]
    if number is None or phone >= 16 or not _ed25519.is_public_key(key):
        return None
    if not any(_ed25519.verify(one, CONTEXT + body, organization_signature) for one in keys):
        return None
    if not _ed25519.verify(key, signed.encode(), phone_signature):
        return None
    return PhoneCode(number, phone, int(made_at), int.from_bytes(expiry, "big"))


def number_shown(text: str) -> str | None:
    """The card number in a code, by its form alone: nothing is verified."""
    found = PATTERN.fullmatch(text)
    raw = _decoded(found[2]) if found else None
    return None if raw is None else number_of(raw[:-64])


def number_of(body: bytes) -> str | None:
    found = NUMBER.fullmatch(body[:-37].decode("latin-1"))
    return " ".join(found.groups()) if found else None


def _decoded(text: str) -> bytes | None:
    """Base32 in its one spelling: no character is to spare, and the spare bits of the last one are zero."""
    length, spare = divmod(5 * len(text), 8)
    number = int(text.translate(INT_DIGITS), 32)
    return None if spare >= 5 or number & ((1 << spare) - 1) else (number >> spare).to_bytes(length, "big")
