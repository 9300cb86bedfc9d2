"""Transferring a ticket that was not used yet: to another card, or to another person."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Row, Tx
from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.domain import audit_log, cards, webhooks
from gatepass.domain.cards import HolderDetails, NewCard
from gatepass.domain.tickets import messages
from gatepass.domain.tickets.request import TicketRequest
from gatepass.domain.tickets.situation import OPEN_FOR_SALE, read_situation
from gatepass.domain.tickets.ticket import AlreadyActivated, CardHasTicket, TicketCancelled, TicketNotFound


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
    rows = await tx.rows(FIND, organization_id, ticket_id)
    if not rows:
        raise TicketNotFound("There is no such ticket.")
    ticket = rows[0]
    _require_unused(ticket)
    request = TicketRequest(ticket["event_id"], ticket["category_id"], card_id=card_id, holder=holder)
    situation = await read_situation(tx, organization_id, [request], companions=True, locked=True)
    status = situation.events[request.event_id]
    if status not in OPEN_FOR_SALE:
        raise NotAllowedFromHere(f"A ticket of an event that is {status} cannot be transferred.")
    person = situation.people.get(request.address or "")
    chosen = situation.choose_card(request)
    if person is not None and person.card_id == ticket["card_id"]:
        chosen = CardHasTicket(param="holder")
    if isinstance(chosen, Refusal):
        raise chosen
    if chosen.is_new:
        made = NewCard(chosen.id, holder, chosen.companion)
        await cards.issue_all(tx, organization_id, [made], by=by, at=at)
    elif person is not None and not person.listed:
        await cards.list_current(tx, organization_id, {person.email: person.card_id})
    if not await tx.run(MOVE, organization_id, ticket_id, chosen.id, at, ticket["card_id"]):
        await _explain(tx, organization_id, ticket_id)
    becomes = (await cards.find(tx, organization_id, chosen.id)).number
    await audit_log.record(
        tx, organization_id, "ticket", ticket_id, "moved to another card", by=by, at=at,
        was=ticket["number"], becomes=becomes,
    )  # fmt: skip
    old, new = (ticket["card_id"], ticket["number"]), (chosen.id, becomes)
    message = messages.transferred(ticket_id, ticket["event_id"], old, new, at=at)
    await webhooks.emit(tx, organization_id, [message], at=at)
    return chosen.id


async def _explain(tx: Tx, organization_id: UUID, ticket_id: UUID) -> None:
    """Raise the reason why nothing was moved."""
    rows = await tx.rows(FIND, organization_id, ticket_id)
    if not rows:
        raise TicketNotFound("There is no such ticket.")
    _require_unused(rows[0])
    raise NotAllowedFromHere("The ticket was moved to another card meanwhile.")


def _require_unused(ticket: Row) -> None:
    if ticket["cancelled_at"] is not None:
        raise TicketCancelled
    if ticket["activated_at"] is not None:
        raise AlreadyActivated


FIND: Final = """
    SELECT t.event_id, t.category_id, t.card_id, c.number, t.activated_at, t.cancelled_at
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
       AND t.id = $2
"""

MOVE: Final = """
    UPDATE ticket
       SET card_id = $3, changed_at = $4
     WHERE organization_id = $1
       AND id = $2
       AND card_id = $5
       AND activated_at IS NULL
       AND cancelled_at IS NULL
"""
