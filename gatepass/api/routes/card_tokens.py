"""/cards/{id}/token, /card-tokens: tokens for the app of a platform, which shows them as codes. None is ever stored."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Response
from pydantic import Field

from gatepass.api.once import Kept, item_problem, once
from gatepass.api.request import decoded, moment
from gatepass.api.routes.card_schemas import (
    LARGEST_BATCH,
    CardsWrite,
    Id,
    TokenOut,
    TokenRequest,
    TokenResultOut,
    TokensRequest,
    card_id,
)
from gatepass.api.schemas import Data, Wire
from gatepass.api.write import Write
from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.ids import strict_uuid
from gatepass.domain import audit_log, cards
from gatepass.domain.cards import CardNotFound, CardRevoked, CardStatus, CardSuspended, HeldCard, Signer

router = APIRouter(tags=["Cards"])

USUAL_LIFE: Final = timedelta(hours=24)
LONGEST_LIFE: Final = timedelta(days=400)
ONE: Final = msgspec.json.Decoder(TokenRequest)
MANY: Final = msgspec.json.Decoder(TokensRequest)


class TokenResultsOut(Wire):
    data: list[TokenResultOut] = Field(max_length=1000)


@router.post("/cards/{id}/token", response_model=Data[TokenOut])
async def create_card_token(write: CardsWrite, id: Id) -> Response:
    """A token for this card."""
    raw = await write.request.body()
    expires_at = _expiry(decoded(raw, ONE).expires_at if raw else None, write.at)
    organization_id, wanted = write.caller.tenant_id, card_id(id)

    async def note(tx: Tx) -> Kept:
        card = await cards.find(tx, organization_id, wanted)
        _require_active(card)
        await _note(tx, write, [card.id], expires_at)
        return Kept(200, id=card.id, facts={"expires_at": rfc3339(expires_at)})

    async def sign(tx: Tx, kept: Kept) -> TokenOut:
        """A card that is suspended or revoked by now gets no token again."""
        assert kept.id is not None  # noqa: S101  as above
        card = await cards.find(tx, organization_id, kept.id)
        _require_active(card)
        until = moment(kept.facts["expires_at"], "expires_at")
        return _signed(await cards.signer(tx, organization_id, write.state.vault, at=write.at), card, until)

    return await once(write, raw, note, sign)


@router.post("/card-tokens", response_model=TokenResultsOut)
async def create_card_tokens(write: CardsWrite) -> Response:
    """Tokens for many cards, in their order."""
    raw = await write.request.body(LARGEST_BATCH)
    body = decoded(raw, MANY)
    expires_at = _expiry(body.expires_at, write.at)
    organization_id, wanted = write.caller.tenant_id, [strict_uuid(text) for text in body.cards]

    async def note(tx: Tx) -> Kept:
        found = await cards.find_all(tx, organization_id, [id for id in wanted if id])
        items = [_item(found.get(id) if id else None) for id in wanted]
        await _note(tx, write, list({item.id for item in items if item.id}), expires_at)
        return Kept(200, facts={"expires_at": rfc3339(expires_at)}, items=tuple(items))

    async def load(tx: Tx, kept: Kept) -> tuple[Kept, Mapping[UUID, HeldCard], Signer]:
        found = await cards.find_all(tx, organization_id, [item.id for item in kept.items if item.id])
        return kept, found, await cards.signer(tx, organization_id, write.state.vault, at=write.at)

    async def sign(loaded: tuple[Kept, Mapping[UUID, HeldCard], Signer]) -> list[dict[str, Any]]:
        """In a thread: a thousand signatures take 80 ms, and scans wait for this event loop."""
        return await asyncio.to_thread(_results, *loaded)

    return await once(write, raw, note, load, sign)


def _expiry(text: str | None, now: datetime) -> datetime:
    until = now + USUAL_LIFE if text is None else moment(text, "expires_at")
    if until <= now:
        raise InvalidRequest("expires_at is in the past.", param="expires_at")
    if until - now > LONGEST_LIFE:
        raise InvalidRequest("expires_at is more than 400 days ahead.", param="expires_at")
    return until.replace(microsecond=0)  # a token tells whole seconds


def _require_active(card: HeldCard) -> None:
    if card.status is CardStatus.SUSPENDED:
        raise CardSuspended
    if card.status is CardStatus.REVOKED:
        raise CardRevoked


def _item(card: HeldCard | None) -> Kept:
    try:
        if card is None:
            raise CardNotFound(param="cards")
        _require_active(card)
    except Refusal as refusal:
        return item_problem(refusal)
    return Kept(200, id=card.id)


async def _note(tx: Tx, write: Write, card_ids: list[UUID], expires_at: datetime) -> None:
    """A token admits anybody who has it, so the audit log says who asked for it."""
    await audit_log.record_all(
        tx, write.caller.tenant_id, "card", card_ids, "token signed", by=write.by, at=write.at,
        becomes=f"token until {rfc3339(expires_at)}",
    )  # fmt: skip


def _results(kept: Kept, found: Mapping[UUID, HeldCard], sign: Signer) -> list[dict[str, Any]]:
    until = moment(kept.facts["expires_at"], "expires_at")
    results: list[dict[str, Any]] = []
    for item in kept.items:
        now = item if item.id is None else _item(found.get(item.id))
        if now.problem is not None or now.id is None:
            results.append({"status": now.status, **(now.problem or {})})
        else:
            results.append({"status": 200, "data": _signed(sign, found[now.id], until).model_dump(mode="json")})
    return results


def _signed(sign: Signer, card: HeldCard, until: datetime) -> TokenOut:
    return TokenOut(card_id=card.id, token=sign(card.number, until), expires_at=until)
