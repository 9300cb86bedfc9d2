"""The link of a card's page: shown to be handed over, and changed when it got to somebody else.

Whoever has it sees the card and its code, so that both ask for a fresh confirmation and are in the audit log.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain import audit_log, cards
from gatepass.domain.cards import link_url
from gatepass.domain.staff import Permission
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context

router = APIRouter(prefix="/cards/{card_id}/link")

ConfirmedWriter = Annotated[Context, may(Permission.TICKETS_WRITE, confirmed=True)]


@router.post("")
async def show(card_id: UUID, context: ConfirmedWriter) -> Response:
    """The link, which is made if the card has none."""
    settings = context.studio.settings
    async with context.tenant_transaction() as tx:
        card = await cards.find(tx, context.tenant_id, card_id)
        token = await cards.link_of(tx, context.tenant_id, card_id, context.vault, settings.cell, at=context.at)
        await audit_log.record(tx, context.tenant_id, "card", card_id, "link shown", by=context.by, at=context.at)
    return context.page("cards/link.html", card=card, url=link_url(settings.public_url, token), is_new=False)


@router.post("/change")
async def change(card_id: UUID, context: ConfirmedWriter) -> Response:
    settings = context.studio.settings
    async with context.tenant_transaction() as tx:
        card = await cards.find(tx, context.tenant_id, card_id)
        token = await cards.change_link(
            tx, context.tenant_id, card_id, context.vault, settings.cell, by=context.by, at=context.at
        )
    return context.page("cards/link.html", card=card, url=link_url(settings.public_url, token), is_new=True)
