"""Cards and their tokens: the sandbox's five, and those that a test issues on the live side."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from gatepass_sdk import _ed25519
from gatepass_sdk._base64url import encoded
from gatepass_sdk._card import SANDBOX_TOKEN, as_stored
from gatepass_sdk.testing._asked import Asked, Refused, Reply, invalid
from gatepass_sdk.testing._times import rfc3339
from gatepass_sdk.tokens import SANDBOX_TOKENS, CardKeys, TokenReading

if TYPE_CHECKING:
    from gatepass_sdk.testing._world import World

SANDBOX_ISSUED_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
KEY_ID: Final = "00000000-0000-0000-0000-0000000000b1"
INVALID: Final[dict[str, Any]] = {
    "valid": False,
    "expired": False,
    "status": None,
    "card_number": None,
    "issued_at": None,
    "card_id": None,
    "reason": "invalid_token",
}


@dataclass
class FakeCard:
    """A card with a ticket. Set `status` to suspend or revoke it, `ticket_state` to `cancelled` or None.

    After a scan `activated_at`, `gate` and `scanner_id` say when and where.
    """

    card_number: str
    token: str
    card_id: UUID
    ticket_id: UUID
    event_id: str
    tier: str
    category_name: str
    issued_at: datetime
    status: str = "active"
    ticket_state: str | None = "issued"
    activated_at: datetime | None = None
    gate: str | None = None
    scanner_id: str | None = None


class Signer:
    """Signs tokens as the service does (RFC 8032, section 5.1.6). For tests alone: its key is no secret."""

    def __init__(self, seed: bytes = b"a fake Gatepass") -> None:
        digest = hashlib.sha512(hashlib.sha256(seed).digest()).digest()
        self._scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
        self._prefix = digest[32:]
        self.public_key = _ed25519.times_base(self._scalar)

    def token(self, card_number: str, expires_at: datetime) -> str:
        signed = f"SVC1.{encoded(card_number.encode())}.{int(expires_at.timestamp())}"
        return f"{signed}.{encoded(self._sign(signed.encode()))}"

    def _sign(self, message: bytes) -> bytes:
        nonce = _number(self._prefix + message)
        commitment = _ed25519.times_base(nonce)
        challenge = _number(commitment + self.public_key + message)
        answer = (nonce + challenge * self._scalar) % _ed25519.ORDER
        return commitment + answer.to_bytes(32, "little")


def verify_card(world: "World", asked: Asked) -> Reply:
    """Whether a card token is good. No ticket is activated."""
    token = asked.query.get("token")
    if not token:
        raise invalid("token is missing.", "token")
    if asked.mode == "sandbox":
        return Reply(200, _sandbox_worth(token))
    reading = read_token(world, token, world.now())
    card = find_card(world, reading.card_number)
    if reading.card_number is None or card is None:
        return Reply(200, INVALID)
    expired = "expired" if reading.expired else None
    reason = expired if card.status == "active" else f"card_{card.status}"
    return Reply(
        200, _worth(card.card_number, card.card_id, card.status, card.issued_at, expired=reading.expired, reason=reason)
    )


def card_keys(world: "World", asked: Asked) -> Reply:
    """The sandbox signs nothing."""
    key = {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": KEY_ID}
    keys = [{**key, "x": encoded(world.signer.public_key)}]
    return Reply(200, {"keys": [] if asked.mode == "sandbox" else keys})


def read_token(world: "World", token: str, at: datetime) -> TokenReading:
    return CardKeys((world.signer.public_key,)).verify(token, at=at)


def read_sandbox_token(token: str) -> str:
    found = SANDBOX_TOKEN.fullmatch(token)
    if found is None:
        raise Refused("invalid_token")
    return found[1]


def find_card(world: "World", number: str | None) -> FakeCard | None:
    return next((card for card in world.cards if card.card_number == number), None)


def new_number(serial: int) -> str:
    """With its Luhn check digit."""
    digits, total = f"{serial:011d}", 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return as_stored(f"SVC{digits}{-total % 10}")


def _sandbox_worth(token: str) -> dict[str, Any]:
    found = SANDBOX_TOKEN.fullmatch(token)
    if found is None or found[1] not in SANDBOX_TOKENS:
        return INVALID
    name = found[1]
    reason = SANDBOX_TOKENS[name]
    status = "revoked" if reason == "card_revoked" else "active"
    id = UUID(int=0xC1 + list(SANDBOX_TOKENS).index(name))
    return _worth(name, id, status, SANDBOX_ISSUED_AT, expired=reason == "expired", reason=reason)


def _worth(
    number: str,
    id: UUID,
    status: str,
    issued_at: datetime,
    *,
    expired: bool,
    reason: str | None,
) -> dict[str, Any]:
    return {
        "valid": reason is None,
        "expired": expired,
        "status": status,
        "card_number": number,
        "issued_at": rfc3339(issued_at),
        "card_id": str(id),
        "reason": reason,
    }


def _number(message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(message).digest(), "little") % _ed25519.ORDER
