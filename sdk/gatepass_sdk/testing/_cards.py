"""Cards and their tokens: the eight test cards of the sandbox, and those that are issued."""

import re
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from gatepass_sdk._base64url import encoded
from gatepass_sdk._card import SANDBOX_TOKEN, as_stored
from gatepass_sdk.testing._http import Reply, Request, invalid
from gatepass_sdk.testing._platform.records import CardRecord
from gatepass_sdk.testing._state import Side, World
from gatepass_sdk.testing._times import rfc3339
from gatepass_sdk.tokens import SANDBOX_TOKENS, CardKeys, TokenReading

SANDBOX_ISSUED_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
STORED: Final = re.compile(r"[A-Z]{2,6} \d{4} \d{4} \d{4}", re.ASCII)
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


def verify_card(world: World, request: Request) -> Reply:
    """Verify a card token. No ticket is activated."""
    token = request.query.get("token")
    if not token:
        raise invalid("token is missing.", "token")
    name = test_card(token) if request.mode == "sandbox" else None
    if name is not None:
        return Reply(200, _test_card(name))
    reading = read_token(world, request.mode, token, world.now())
    card = find_card(world.sides[request.mode], reading.card_number)
    if reading.card_number is None or card is None:
        return Reply(200, INVALID)
    expired = "expired" if reading.expired else None
    reason = expired if card.status == "active" else f"card_{card.status}"
    return Reply(
        200,
        _verification(card.number, card.id, card.status, card.issued_at, expired=reading.expired, reason=reason),
    )


def card_keys(world: World, request: Request) -> Reply:
    """The sandbox has none before its first token."""
    key = {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": KEY_ID}
    return Reply(200, {"keys": [{**key, "x": encoded(public_key)} for public_key in _public_keys(world, request.mode)]})


def read_token(world: World, mode: str, token: str, at: datetime) -> TokenReading:
    return CardKeys(_public_keys(world, mode)).verify(token, at=at)


def _public_keys(world: World, mode: str) -> tuple[bytes, ...]:
    signer = world.signers.get(mode)
    return () if signer is None else (signer.public_key,)


def named_card(token: str) -> str | None:
    """The card that an unsigned token names; there may be none of this name."""
    found = SANDBOX_TOKEN.fullmatch(token)
    return found[1] if found else None


def test_card(token: str) -> str | None:
    """The test card that an unsigned token names, if it is one."""
    name = named_card(token)
    return name if name in SANDBOX_TOKENS else None


def find_card(side: Side, number: str | None) -> CardRecord | None:
    return next((card for card in side.cards if card.number == number), None)


def new_number(serial: int) -> str:
    """A card number with its Luhn check digit."""
    digits = f"{serial:011d}"
    return as_stored(f"SVC{digits}{_check_digit(digits)}")


def is_number(text: str) -> bool:
    """Whether this is a card number in the form that is stored, with a good check digit."""
    digits = text.partition(" ")[2].replace(" ", "")
    return STORED.fullmatch(text) is not None and _check_digit(digits[:-1]) == digits[-1]


def _check_digit(digits: str) -> str:
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if index % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)


def _test_card(name: str) -> dict[str, Any]:
    reason = SANDBOX_TOKENS[name]
    status = reason.removeprefix("card_") if reason in ("card_revoked", "card_suspended") else "active"
    id = UUID(int=0xC1 + list(SANDBOX_TOKENS).index(name))
    return _verification(name, id, status, SANDBOX_ISSUED_AT, expired=reason == "expired", reason=reason)


def _verification(
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
