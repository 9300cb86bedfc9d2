"""Transferring a ticket that was not used yet: to another card, or to another person."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.domain import audit_log, cards, webhooks
from gatepass.domain.cards import HolderDetails, NewCard
from gatepass.domain.tickets import messages
from gatepass.domain.tickets.locking import SOLD, lock_ticket, numbers_of
from gatepass.domain.tickets.request import TicketRequest
from gatepass.domain.tickets.situation import OPEN_FOR_SALE, read_situation
from gatepass.domain.tickets.ticket import AlreadyActivated, CardHasTicket, TicketNotFound


async def transfer(
    tx: Tx,
    organization_id: UUID,
    ticket_id: UUID,
    *,
    card_id: UUID | None = None,
    holder: HolderDetails | None = None,
    by: str,
    at: datetime,
) -> UUID:
    """Move a ticket to this card, or to the card of this person as a new ticket would find it; the card's id.

    A gate that scans the old card at the same moment is either first, and the ticket stays, or finds no ticket.
    """
    rows = await tx.rows(SOLD, organization_id, ticket_id)
    if not rows:
        raise TicketNotFound("There is no such ticket.")
    request = TicketRequest(rows[0]["event_id"], rows[0]["category_id"], card_id=card_id, holder=holder)
    situation = await read_situation(tx, organization_id, [request], companions=True, locked=True)
    ticket = await lock_ticket(tx, organization_id, ticket_id)
    if ticket.activated_at is not None:
        raise AlreadyActivated
    status = situation.events[request.event_id]
    if status not in OPEN_FOR_SALE:
        raise NotAllowedFromHere(f"A ticket of an event that is {status} cannot be transferred.")
    person = situation.people.get(request.address or "")
    chosen = situation.choose_card(request)
    if person is not None and person.card_id == ticket.card_id:
        chosen = CardHasTicket(param="holder")
    if isinstance(chosen, Refusal):
        raise chosen
    if chosen.is_new:
        made = NewCard(chosen.id, holder, chosen.companion)
        await cards.issue_all(tx, organization_id, [made], by=by, at=at)
    elif person is not None and not person.listed:
        await cards.list_current(tx, organization_id, {person.email: person.card_id})
    await tx.run(MOVE, organization_id, ticket_id, chosen.id, at)
    numbers = await numbers_of(tx, organization_id, [ticket.card_id, chosen.id])
    old, new = [(id, numbers[id]) for id in (ticket.card_id, chosen.id)]
    await audit_log.record(
        tx, organization_id, "ticket", ticket_id, "moved to another card", by=by, at=at, was=old[1], becomes=new[1]
    )
    message = messages.transferred(ticket_id, ticket.event_id, old, new, at=at)
    await webhooks.emit(tx, organization_id, [message], at=at)
    return chosen.id


# Of a ticket that this transaction has locked.
MOVE: Final = """
    UPDATE ticket
       SET card_id = $3, changed_at = $4
     WHERE organization_id = $1
       AND id = $2
       AND activated_at IS NULL
       AND cancelled_at IS NULL
"""
