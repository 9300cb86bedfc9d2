"""Printing a card: its number and a token as a QR code, which is shown this once and kept nowhere."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

import segno
from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from gatepass.base.clock import rfc3339
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import cards, changes
from gatepass.domain.cards import CardNotFound, CardStatus
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/cards")


class Lifetime(BaseModel):
    days: Annotated[int, Field(ge=1, le=400)] = 30


@router.post("/{card_id}/print")
async def show_for_printing(card_id: UUID, visit: Annotated[Visit, may(Permission.TICKETS_WRITE)]) -> Response:
    """Sign a token for the card. Who has it can enter as the card's holder, so that it is in the history."""
    if visit.mode is Mode.SANDBOX:
        raise CardNotFound
    wanted = (await visit.form()).read(Lifetime) or Lifetime()
    expires_at = visit.at + timedelta(days=wanted.days)
    async with visit.transaction() as tx:
        card = await cards.find(tx, visit.organization_id, card_id)
        if card.status is not CardStatus.ACTIVE:
            raise NotAllowedFromHere(f"A card that is {card.status} is not printed: gates would refuse it.")
        sign = await cards.signer(tx, visit.organization_id, visit.vault)
        await changes.note(
            tx, visit.organization_id, "card", card_id, "printed", by=visit.by, at=visit.at,
            becomes=f"token until {rfc3339(expires_at)}",
        )  # fmt: skip
    code = segno.make(sign(card.number, expires_at), error="m", micro=False)
    picture = code.svg_data_uri(scale=6, border=4, light="#fff", dark="#000")
    return visit.page("cards/print.html", card=card, picture=picture, expires_at=expires_at)
