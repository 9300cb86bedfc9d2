"""Letting somebody in from the page of their card, with a reason."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain import cards, incidents
from gatepass.domain.staff import Permission
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Reason
from gatepass.studio.web.page_event import event_with_tickets

router = APIRouter(prefix="/cards")

# No confirmation: whoever stands at a door has a queue behind them. The reason and the name are kept.
Writer = Annotated[Context, may(Permission.TICKETS_WRITE)]


@router.post("/{card_id}/let-in/{event_id}")
async def let_in(card_id: UUID, event_id: UUID, context: Writer) -> Response:
    """An unused ticket is used; anything else opens an incident."""
    listing = await event_with_tickets(context, event_id)
    form = await context.form()
    wanted = form.read(Reason)
    if wanted is None:
        async with context.db.autocommit() as tx:
            card = await cards.find(tx, context.tenant_id, card_id)
        return context.page("cards/let_in.html", card=card, event=listing.event, form=form, status=422)
    async with context.tenant_transaction() as tx:
        done = await incidents.let_in(
            tx, context.tenant_id, card_id, event_id, reason=wanted.reason, by=context.by, at=context.at
        )
    told = "The ticket is used now." if done.activated else "No ticket was used; an incident is open."
    return context.go(f"cards/{card_id}", f"Let in. {told}")
