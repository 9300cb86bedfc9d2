"""Card tokens: `SVC1.<card number in base64url>.<expiry in Unix seconds>.<Ed25519 signature in base64url>`.

`SVC1` means Ed25519 and nothing else. A token with two spellings could be changed without a new signature, so the
parser takes one spelling of each part. Gates may verify offline with the public key alone.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from gatepass.base.errors import Refusal
from gatepass.base.wire_constants import TOKEN_PREFIX

LONGEST: Final = 512
# In seconds. A page gives a phone that cannot sign a token for 60, and scanners' clocks are not exact.
FRESH: Final = 120
PATTERN: Final = re.compile(
    rf"({TOKEN_PREFIX}\.([A-Za-z0-9_-]{{1,64}})\.(0|[1-9][0-9]{{0,11}}))\.([A-Za-z0-9_-]{{86}})", re.ASCII
)


class InvalidToken(Refusal):
    """The card token is not valid."""

    code = "invalid_token"


class Expired(Refusal):
    """The card token has expired."""

    code = "expired"


@dataclass(frozen=True, slots=True)
class PublicKey:
    id: UUID
    public_key: bytes


@dataclass(frozen=True, slots=True)
class Token:
    card_number: str
    expires_at: int
    signing_key: UUID

    def is_expired(self, at: datetime) -> bool:
        return self.expires_at <= at.timestamp()

    def is_fresh(self, at: datetime) -> bool:
        """Whether it ends so soon that a picture of it is of no use: events that want phones' own codes take it."""
        return self.expires_at - at.timestamp() <= FRESH

    @property
    def phone(self) -> None:
        """No phone has signed it."""


def sign(card_number: str, expires_at: datetime, key: SigningKey) -> str:
    signed = f"{TOKEN_PREFIX}.{_encode(card_number.encode())}.{int(expires_at.astimezone(UTC).timestamp())}"
    return f"{signed}.{_encode(key.sign(signed.encode()).signature)}"


def verify(text: str, keys: Iterable[PublicKey]) -> Token:
    """The token, if one of these keys signed it; newest first is fastest. Expiry is not checked."""
    found = PATTERN.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        raise InvalidToken
    signed, card, expires_at, signature = found.groups()
    message, raw_signature = signed.encode(), _decode(signature)
    signer = next((key.id for key in keys if _is_signed(message, raw_signature, key.public_key)), None)
    if signer is None:
        raise InvalidToken
    try:
        return Token(_decode(card).decode("ascii"), int(expires_at), signer)
    except UnicodeDecodeError:
        raise InvalidToken from None


def _is_signed(message: bytes, signature: bytes, key: bytes) -> bool:
    try:
        VerifyKey(key).verify(message, signature)
    except BadSignatureError:
        return False
    return True


def _encode(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Strict base64url: decoded and encoded again, the text must be the same."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise InvalidToken from None
    if _encode(raw) != text:
        raise InvalidToken
    return raw
