"""Codes that a phone makes itself: `SVC2.<certificate>.<Unix seconds>.<the phone's Ed25519 signature>`.

A picture of an SVC1 token works for whoever has it. An SVC2 code is signed by a key that never leaves its phone, and is
good for a minute. The certificate binds that key to a card; the organization signs it. So a gate needs public keys
alone. Everything is upper-case base32 and digits: a QR code of version 10-M holds 311 such characters, which is what
the longest code has. As with SVC1, the parser takes one spelling of each part.

A certificate, before base32:

    14 to 18 bytes   the card's number in ASCII without spaces
     4 bytes         its expiry in Unix seconds, big-endian
     1 byte          the enrolment number of the phone, modulo 16
    32 bytes         the phone's public key
    64 bytes         the organization's signature over `svc2-certificate`, a zero byte, and all of the above
"""

import re
from base64 import b32encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from nacl.bindings import crypto_core_ed25519_is_valid_point
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from gatepass.base.wire_constants import PHONE_CODE_PREFIX
from gatepass.domain.cards.card import TYPED, normalize_number
from gatepass.domain.cards.token import InvalidToken, PublicKey

# What a QR code of version 10-M holds in alphanumeric mode. A longer code would need a larger picture.
LONGEST: Final = 311
# A gate without a network accepts an ended phone for as long. A phone that is not opened for a week asks once more.
CERTIFICATE_LIFE: Final = timedelta(days=7)
# Either way: a copied code is of no use after it, and a phone whose clock is further off is told so by its page.
TOLERANCE: Final = 60
# The scan's statement compares four bits. `phones.py` sees to it that no two living certificates share a number.
NUMBERS: Final = 16

CERTIFICATE_CONTEXT: Final = b"svc2-certificate\0"
SIGNATURE_BYTES: Final = 64
KEY_BYTES: Final = 32
# What stands behind the card's number: expiry, enrolment number, public key, signature.
FIXED_BYTES: Final = 4 + 1 + KEY_BYTES + SIGNATURE_BYTES
PATTERN: Final = re.compile(
    rf"({PHONE_CODE_PREFIX}\.([A-Z2-7]{{184,191}})\.([1-9][0-9]{{9}}))\.([A-Z2-7]{{103}})", re.ASCII
)
# From the digits of base32 to those that `int` reads; what is no digit becomes a sign that `int` refuses.
_DIGITS = dict(zip(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHIJKLMNOPQRSTUV", strict=True))
INT_DIGITS: Final = bytes(_DIGITS.get(byte, ord("?")) for byte in range(256))


@dataclass(frozen=True, slots=True)
class Certificate:
    """`phone` is the enrolment number modulo 16; `signing_key` is the organization's key that signed this."""

    card_number: str
    expires_at: int
    phone: int
    public_key: bytes
    signing_key: UUID


@dataclass(frozen=True, slots=True)
class PhoneCode:
    """A code with two good signatures: the organization's and the phone's."""

    certificate: Certificate
    made_at: int

    @property
    def card_number(self) -> str:
        return self.certificate.card_number

    @property
    def signing_key(self) -> UUID:
        return self.certificate.signing_key

    @property
    def phone(self) -> int:
        return self.certificate.phone

    def is_expired(self, at: datetime) -> bool:
        """Whether the code is not of this minute, or its certificate has ended."""
        moment = at.timestamp()
        return abs(self.made_at - moment) > TOLERANCE or self.certificate.expires_at <= moment

    def is_fresh(self, _at: datetime) -> bool:
        """For tokens. A code names its phone, which says more."""
        return False


def is_phone_code(text: str) -> bool:
    return text.startswith(PHONE_CODE_PREFIX + ".")


def is_public_key(raw: bytes) -> bool:
    """Whether this is a key that a phone can have made: of 32 bytes, canonical, on the curve and of full order.

    A key of small order would verify one signature for many messages.
    """
    return len(raw) == KEY_BYTES and crypto_core_ed25519_is_valid_point(raw)


def certify(card_number: str, expires_at: int, phone: int, public_key: bytes, key: SigningKey) -> str:
    number = card_number.replace(" ", "")
    if TYPED.fullmatch(number) is None or not is_public_key(public_key):
        raise ValueError("not a card number, or not a public key")
    body = number.encode() + expires_at.to_bytes(4, "big") + bytes([phone % NUMBERS]) + public_key
    return _encode(body + key.sign(CERTIFICATE_CONTEXT + body).signature)


def sign(certificate: str, made_at: int, key: SigningKey) -> str:
    """The code that the phone with this key shows at this second. Phones do it in JavaScript; tests and tools here."""
    signed = f"{PHONE_CODE_PREFIX}.{certificate}.{made_at}"
    return f"{signed}.{_encode(key.sign(signed.encode()).signature)}"


def certificate_of(text: str) -> str:
    """The certificate in this code, by its form alone."""
    return _parts(text)[1]


def read_certificate(text: str, keys: Iterable[PublicKey]) -> Certificate:
    """The certificate, if one of these keys signed it. Expiry is not checked.

    Whether the phone's key is of full order is not checked again: it would cost a scan 250 µs. `certify` signs no other
    key, so that a good signature vouches for it. Keys of small order are refused by libsodium in `read_code` too.
    """
    raw = _decode(text)
    body, signature = raw[:-SIGNATURE_BYTES], raw[-SIGNATURE_BYTES:]
    number, fixed = body[: -FIXED_BYTES + SIGNATURE_BYTES], body[-FIXED_BYTES + SIGNATURE_BYTES :]
    if not number.isascii() or TYPED.fullmatch(number.decode()) is None or fixed[4] >= NUMBERS:
        raise InvalidToken
    signer = next((key.id for key in keys if is_signed(CERTIFICATE_CONTEXT + body, signature, key.public_key)), None)
    if signer is None:
        raise InvalidToken
    expires_at = int.from_bytes(fixed[:4], "big")
    return Certificate(normalize_number(number.decode()), expires_at, fixed[4], fixed[5:], signer)


def read_code(text: str, certificate: Certificate) -> PhoneCode:
    """The code, if the phone of this certificate signed it. The certificate was read out of the same text."""
    signed, _, made_at, signature = _parts(text)
    if not is_signed(signed.encode(), _decode(signature), certificate.public_key):
        raise InvalidToken
    return PhoneCode(certificate, int(made_at))


def verify(text: str, keys: Iterable[PublicKey]) -> PhoneCode:
    """The code, if its phone signed it and one of these keys signed the phone's certificate."""
    return read_code(text, read_certificate(certificate_of(text), keys))


def is_signed(message: bytes, signature: bytes, key: bytes) -> bool:
    try:
        VerifyKey(key).verify(message, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


def _parts(text: str) -> tuple[str, str, str, str]:
    found = PATTERN.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        raise InvalidToken
    signed, certificate, made_at, signature = found.groups()
    return signed, certificate, made_at, signature


def _encode(raw: bytes) -> str:
    return b32encode(raw).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Strict base32: one spelling, so that no character is to spare and the spare bits of the last one are zero.

    Python's own decoder took a scan 75 µs, as long as verifying a signature. This one takes 3 µs.
    """
    length, spare = divmod(5 * len(text), 8)
    try:
        number = int(text.encode("ascii").translate(INT_DIGITS), 32)
    except ValueError:
        raise InvalidToken from None
    if spare >= 5 or number & ((1 << spare) - 1):
        raise InvalidToken
    return (number >> spare).to_bytes(length, "big")
