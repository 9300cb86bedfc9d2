"""Issuing a ticket: a place in a category is taken in the same transaction, never one too many."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes
from gatepass.domain.events import EventNotFound, EventStatus
from gatepass.domain.tickets.ticket import CardHasTicket, SoldOut, TicketState

OPEN_FOR_SALE: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED})


async def issue(
    tx: Tx, organization_id: UUID, event_id: UUID, category_id: UUID, card_id: UUID, *, by: str, at: datetime
) -> UUID:
    """Attach a ticket to a card. A card holds at most one ticket per event that is not cancelled."""
    status = await tx.value(EVENT_STATUS, organization_id, event_id)
    if status is None:
        raise EventNotFound
    if EventStatus(status) not in OPEN_FOR_SALE:
        raise NotAllowedFromHere(f"An event that is {status} takes no more tickets.")
    if not await tx.run(TAKE_PLACE, organization_id, event_id, category_id):
        raise SoldOut
    ticket_id = new_id()
    if not await tx.run(ISSUE, organization_id, ticket_id, event_id, category_id, card_id, at):
        raise CardHasTicket
    await changes.note(tx, organization_id, "ticket", ticket_id, "issued", by=by, at=at, becomes=TicketState.ISSUED)
    return ticket_id


# Shared, so that an event cannot be cancelled between this look and the ticket.
EVENT_STATUS: Final = """
    SELECT status
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR SHARE
"""

TAKE_PLACE: Final = """
    UPDATE ticket_category
       SET quantity_sold = quantity_sold + 1
     WHERE organization_id = $1
       AND event_id = $2
       AND id = $3
       AND quantity_sold < quantity_total
"""

ISSUE: Final = """
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (organization_id, event_id, card_id) WHERE cancelled_at IS NULL DO NOTHING
"""
