"""GET /card/verify, GET /card/keys: whether a card token is valid, and the public keys to verify one offline."""

from base64 import urlsafe_b64encode
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from gatepass.api.auth import State, authorize_cached, needs, reauthorize, require_confirmed
from gatepass.api.fast_path import as_route
from gatepass.api.request import ApiCall, RawRequest
from gatepass.api.responses import Reply
from gatepass.api.schemas import Moment, Wire
from gatepass.api.state import ApiState
from gatepass.base.clock import rfc3339
from gatepass.base.errors import InvalidRequest
from gatepass.domain import cards, sandbox
from gatepass.domain.cards import (
    INVALID,
    CardStatus,
    InvalidToken,
    PublicKey,
    Verification,
    VerificationReason,
    VerificationRequest,
)
from gatepass.domain.keys import Caller, InvalidKey, Mode, Scope

router = APIRouter(tags=["Cards"])


class VerificationOut(Wire):
    valid: bool
    expired: bool
    status: CardStatus | None
    card_number: str | None
    issued_at: Moment | None
    card_id: str | None
    reason: VerificationReason | None = Field(description="Why the token is not valid; null if it is.")


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


@router.get("/card/verify", response_model=VerificationOut)
async def verify_card(
    request: Request,
    token: Annotated[str | None, Query(description="A card token.")] = None,  # noqa: ARG001  for the description
) -> Response:
    """Whether a card token is valid. No ticket is activated."""
    return await as_route(answer_verification, request)


async def answer_verification(state: ApiState, call: ApiCall, request: RawRequest) -> Reply:
    """Check the key, the signature, the card."""
    authorization = request.header(b"authorization")
    caller = await authorize_cached(state, call, authorization, Scope.CARDS_VERIFY)
    text = request.parameter("token")
    if not text:
        raise InvalidRequest("token is missing.", param="token")
    name = sandbox.test_card(text) if caller.mode is Mode.SANDBOX else None
    try:
        found = sandbox.verify(name) if name else await _verified(state, caller, text)
    except InvalidKey:
        if caller.device is not None:  # a retired device's key lives, and lacks the scope
            await reauthorize(state, call, authorization, Scope.CARDS_VERIFY)
        raise
    if found is INVALID or name:
        await require_confirmed(state, call, authorization, Scope.CARDS_VERIFY)
    return Reply.of(200, written(found))


async def _verified(state: ApiState, caller: Caller, text: str) -> Verification:
    try:
        token = await state.public_keys.read_token(caller.tenant_id, text)
    except InvalidToken:
        return INVALID
    return await state.questions(VerificationRequest(caller.organization_id, caller.tenant_id, caller.key_id, token))


def written(verification: Verification) -> dict[str, object]:
    """The fields of VerificationOut without the cost of a model; a test compares the two."""
    card = verification.card
    return {
        "valid": verification.valid,
        "expired": verification.expired,
        "status": card.status if card else None,
        "card_number": card.number if card else None,
        "issued_at": rfc3339(card.issued_at) if card else None,
        "card_id": str(card.id) if card else None,
        "reason": verification.reason,
    }


@router.get("/card/keys")
async def card_keys(caller: Annotated[Caller, needs(Scope.CARDS_VERIFY, devices=True)], state: State) -> PublicKeysOut:
    """The public keys that verify this organization's card tokens, newest first, as a JWK set."""
    async with state.db.autocommit() as tx:
        found = await cards.verifying_keys(tx, caller.tenant_id)
    return PublicKeysOut(keys=[PublicKeyOut.of(key) for key in found])
