"""Issuing a ticket: the same transaction takes a place in the category, and never one too many."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, cards
from gatepass.domain.cards import CardNotFound, CardRevoked, CardStatus
from gatepass.domain.events import EventNotFound, EventStatus
from gatepass.domain.tickets.ticket import CardHasTicket, SoldOut, TicketState

OPEN_FOR_SALE: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED})


@dataclass(frozen=True, slots=True)
class IssuedTicket:
    ticket_id: UUID
    card_id: UUID
    card_number: str


async def issue_with_card(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    category_id: UUID,
    *,
    card_number: str | None = None,
    name: str | None = None,
    email: str | None = None,
    reference: str | None = None,
    by: str,
    at: datetime,
) -> IssuedTicket:
    """Issue a ticket on the card with this number, which keeps its holder, or on a new card for `name`."""
    if card_number:
        card = await cards.find_by_number(tx, organization_id, card_number)
        if card is None:
            raise CardNotFound(param="card_number")
        if card.status is CardStatus.REVOKED:
            raise CardRevoked(param="card_number")
    else:
        card = await cards.issue(tx, organization_id, by=by, at=at, holder_name=name or email, holder_email=email)
    try:
        ticket_id = await issue(tx, organization_id, event_id, category_id, card.id, by=by, at=at)
    except SoldOut:
        raise SoldOut(param="category") from None
    except CardHasTicket:
        raise CardHasTicket(param="card_number") from None
    if reference:
        await _set_reference(tx, organization_id, event_id, ticket_id, reference)
    return IssuedTicket(ticket_id, card.id, card.number)


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
    await audit_log.record(tx, organization_id, "ticket", ticket_id, "issued", by=by, at=at, becomes=TicketState.ISSUED)
    return ticket_id


async def _set_reference(tx: Tx, organization_id: UUID, event_id: UUID, ticket_id: UUID, reference: str) -> None:
    """Store the name that the organizer's own system has for this ticket. A cancelled ticket gives up its reference."""
    if not await tx.run(SET_REFERENCE, organization_id, event_id, reference, ticket_id):
        raise InvalidRequest("A ticket of this event already has this reference.", param="reference")


# A shared lock, so that the event cannot be cancelled between this read and the INSERT of the ticket.
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

SET_REFERENCE: Final = """
    INSERT INTO ticket_reference (organization_id, event_id, reference, ticket_id)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization_id, reference, event_id) DO UPDATE SET ticket_id = excluded.ticket_id
     WHERE EXISTS (SELECT FROM ticket t
                    WHERE t.organization_id = $1
                      AND t.id = ticket_reference.ticket_id
                      AND t.cancelled_at IS NOT NULL)
"""
