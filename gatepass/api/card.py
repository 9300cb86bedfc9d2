"""GET /card/verify, GET /card/keys: what a card token is worth, and how to tell offline."""

from base64 import urlsafe_b64encode
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from gatepass.api.admission import House, needs
from gatepass.api.wire import Moment, Wire
from gatepass.base.refusals import InvalidRequest
from gatepass.domain import cards, sandbox
from gatepass.domain.cards import CardStatus, PublicKey, Reason, Verification
from gatepass.domain.keys import Caller, Mode, Scope

router = APIRouter(tags=["Cards"])


class VerificationOut(Wire):
    valid: bool
    expired: bool
    status: CardStatus | None
    card_number: str | None
    issued_at: Moment | None
    card_id: str | None
    reason: Reason | None = Field(description="Why the token is not valid; null if it is.")

    @classmethod
    def of(cls, verification: Verification) -> "VerificationOut":
        card = verification.card
        return cls(
            valid=verification.valid,
            expired=verification.expired,
            status=card.status if card else None,
            card_number=card.number if card else None,
            issued_at=card.issued_at if card else None,
            card_id=str(card.id) if card else None,
            reason=verification.reason,
        )


class PublicKeyOut(Wire):
    kty: Literal["OKP"] = "OKP"
    crv: Literal["Ed25519"] = "Ed25519"
    alg: Literal["EdDSA"] = "EdDSA"
    use: Literal["sig"] = "sig"
    kid: str
    x: str = Field(description="The public key, base64url without padding.")

    @classmethod
    def of(cls, key: PublicKey) -> "PublicKeyOut":
        return cls(kid=str(key.id), x=urlsafe_b64encode(key.public_key).rstrip(b"=").decode())


class PublicKeysOut(Wire):
    keys: list[PublicKeyOut]


@router.get("/card/verify")
async def verify_card(
    caller: Annotated[Caller, needs(Scope.CARDS_VERIFY)],
    house: House,
    token: Annotated[str | None, Query(description="A card token.")] = None,
) -> VerificationOut:
    """Whether a card token is good. No ticket is activated."""
    if not token:
        raise InvalidRequest("token is missing.", param="token")
    if caller.mode is Mode.SANDBOX:
        return VerificationOut.of(sandbox.verify(token))
    async with house.db.reading() as tx:
        found = await cards.verify(tx, caller.organization_id, token, at=house.clock())
    return VerificationOut.of(found)


@router.get("/card/keys")
async def card_keys(caller: Annotated[Caller, needs(Scope.CARDS_VERIFY)], house: House) -> PublicKeysOut:
    """The public keys that verify this organization's card tokens, newest first, as a JWK set."""
    if caller.mode is Mode.SANDBOX:
        return PublicKeysOut(keys=[])
    async with house.db.reading() as tx:
        found = await cards.verifying_keys(tx, caller.organization_id)
    return PublicKeysOut(keys=[PublicKeyOut.of(key) for key in found])
