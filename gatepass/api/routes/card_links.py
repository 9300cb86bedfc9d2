"""/cards/{id}/link: the link of a card's page, for a platform that sends it itself."""

from typing import Final

import msgspec
from fastapi import APIRouter, Response

from gatepass.api.once import Kept, once
from gatepass.api.request import decoded
from gatepass.api.routes.card_schemas import CardsWrite, Id, LinkOut, LinkRequest, card_id
from gatepass.api.schemas import Data
from gatepass.base.database import Tx
from gatepass.domain import cards
from gatepass.domain.cards import link_url

router = APIRouter(tags=["Cards"])

BODY: Final = msgspec.json.Decoder(LinkRequest)


@router.post("/cards/{id}/link", response_model=Data[LinkOut])
async def create_card_link(write: CardsWrite, id: Id) -> Response:
    """The link of this card's page, the same one each time unless it is replaced."""
    raw = await write.request.body()
    replace = decoded(raw, BODY).replace if raw else False
    organization_id, wanted, state = write.caller.tenant_id, card_id(id), write.state
    cell = state.settings.cell

    async def make(tx: Tx) -> Kept:
        """The stored answer has no secret: only which card it is of."""
        if replace:
            await cards.change_link(tx, organization_id, wanted, state.vault, cell, by=write.by, at=write.at)
        else:
            await cards.link_of(tx, organization_id, wanted, state.vault, cell, at=write.at)
        return Kept(200, id=wanted)

    async def show(tx: Tx, _kept: Kept) -> LinkOut:
        """A retry gets the link that the card has now; a card that was revoked since has none."""
        token = await cards.link_of(tx, organization_id, wanted, state.vault, cell, at=write.at)
        return LinkOut(url=link_url(state.settings.public_url, token))

    return await once(write, raw, make, show)
