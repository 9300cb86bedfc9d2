"""Card tokens without a network: `SVC1.<card number>.<expiry>.<signature>`, and codes of phones, `SVC2.…`.

    keys = client.cards.keys()          # while there is a network; keys.to_json() keeps them
    reading = keys.verify(token)        # whenever

A good signature proves that the organization issued the card, and until when the token is valid. It does not show that
the card was suspended or revoked since, or that its ticket is used: only a scan does. A phone's code is good for 60
seconds. That the card has moved to another phone since shows only when the phone's certificate ends, within 7 days.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

from gatepass_sdk import _ed25519
from gatepass_sdk._base64url import decoded, encoded
from gatepass_sdk._card import SANDBOX_TOKEN
from gatepass_sdk._decode import Unreadable
from gatepass_sdk._phone_code import PREFIX, TOLERANCE, PhoneCode, read_phone_code

LONGEST: Final = 512
PATTERN: Final = re.compile(r"(SVC1\.([A-Za-z0-9_-]{1,64})\.(0|[1-9][0-9]{0,11}))\.([A-Za-z0-9_-]{86})", re.ASCII)
SANDBOX_TOKENS: Final[Mapping[str, str | None]] = {
    "TEST_VALID": None,
    "TEST_VIP": None,
    "TEST_USED": None,
    "TEST_EXPIRED": "expired",
    "TEST_REVOKED": "card_revoked",
    "TEST_SUSPENDED": "card_suspended",
    "TEST_NO_TICKET": None,
    "TEST_CANCELLED": None,
}


@dataclass(frozen=True)
class TokenReading:
    """`reason` is None if the token is valid, else `invalid_token` or `expired`.

    `phone` is the number, 0 to 15, of the phone that made a code; None for a token.
    """

    valid: bool
    expired: bool = False
    card_number: str | None = None
    expires_at: datetime | None = None
    reason: str | None = None
    phone: int | None = None


INVALID: Final = TokenReading(valid=False, reason="invalid_token")


@dataclass(frozen=True)
class CardKeys:
    """Public keys of one organization. They are no secret, and cannot make a token."""

    keys: tuple[bytes, ...]
    is_sandbox: bool = False

    @classmethod
    def of(cls, jwks: Mapping[str, Any], *, is_sandbox: bool = False) -> "CardKeys":
        """From a JWK set. Keys of another kind are ignored."""
        found = jwks.get("keys")
        if not isinstance(found, list):
            raise Unreadable("a set of keys was expected")
        named = [cast("dict[str, Any]", key) for key in found if isinstance(key, dict)]
        return cls(tuple(decoded(str(key.get("x"))) for key in named if key.get("crv") == "Ed25519"), is_sandbox)

    @classmethod
    def from_json(cls, text: str) -> "CardKeys":
        """From the output of `to_json`."""
        value = json.loads(text)
        return cls.of(value, is_sandbox=value.get("sandbox") is True)

    def to_json(self) -> str:
        """As JSON, to be stored at the gate for a start without a network."""
        keys = [{"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": encoded(key)} for key in self.keys]
        return json.dumps({"keys": keys, "sandbox": self.is_sandbox})

    def verify(self, token: str, *, at: datetime | None = None) -> TokenReading:
        """Verify the token for this time, or for now."""
        test_card = SANDBOX_TOKEN.fullmatch(token) if self.is_sandbox else None
        if test_card is not None:
            return _test_card(test_card[1])
        if token.startswith(PREFIX):
            return _phone_reading(read_phone_code(token, self.keys), at or datetime.now(UTC))
        found = PATTERN.fullmatch(token) if len(token) <= LONGEST else None
        if found is None:
            return INVALID
        signed, card, expiry, signature = found.groups()
        try:
            raw_signature, number = decoded(signature), decoded(card).decode("ascii")
        except ValueError:
            return INVALID
        if not any(_ed25519.verify(key, signed.encode(), raw_signature) for key in self.keys):
            return INVALID
        expires_at = datetime.fromtimestamp(min(int(expiry), LAST_SECOND), UTC)
        expired = expires_at <= (at or datetime.now(UTC))
        return TokenReading(
            valid=not expired,
            expired=expired,
            card_number=number,
            expires_at=expires_at,
            reason="expired" if expired else None,
        )


def _phone_reading(code: PhoneCode | None, at: datetime) -> TokenReading:
    if code is None:
        return INVALID
    expired = code.is_expired(at.timestamp())
    expires_at = datetime.fromtimestamp(min(code.made_at + TOLERANCE, code.expires_at), UTC)
    return TokenReading(
        valid=not expired,
        expired=expired,
        card_number=code.card_number,
        expires_at=expires_at,
        reason="expired" if expired else None,
        phone=code.phone,
    )


# A token may have an expiry that datetime cannot represent.
LAST_SECOND: Final = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


def _test_card(name: str) -> TokenReading:
    """The fixed tokens of the sandbox, `SVC1.TEST_VALID.0.0`, which are not signed."""
    if name not in SANDBOX_TOKENS:
        return INVALID
    reason = SANDBOX_TOKENS[name]
    return TokenReading(valid=reason is None, expired=reason == "expired", card_number=name, reason=reason)
