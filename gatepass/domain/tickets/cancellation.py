"""Cancelling a ticket, and undoing an activation."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import audit_log, webhooks
from gatepass.domain.tickets import messages
from gatepass.domain.tickets.locking import LOCK_PLACES, LockedTicket, lock_sold_ticket, lock_ticket, numbers_of
from gatepass.domain.tickets.ticket import TicketNotFound, TicketState
from gatepass.domain.webhooks import Message

# Few enough that a gate never waits noticeably for the rows of one batch.
BATCH: Final = 500
# The reason if the event has none, because version 0.2 cancelled it.
EVENT_CANCELLED: Final = "event cancelled"


async def cancel(tx: Tx, organization_id: UUID, ticket_id: UUID, *, by: str, at: datetime, reason: str) -> None:
    """Cancel a ticket, activated or not, and emit a message; its place is free again."""
    ticket = await lock_sold_ticket(tx, organization_id, ticket_id)
    await tx.run(CANCEL, organization_id, [ticket_id], at, reason)
    await tx.run(FREE_PLACES, organization_id, [ticket.category_id], [1])
    numbers = await numbers_of(tx, organization_id, [ticket.card_id])
    await webhooks.emit(tx, organization_id, [_told(ticket, numbers, at=at, reason=reason)], at=at)
    await audit_log.record(
        tx,
        organization_id,
        "ticket",
        ticket_id,
        "cancelled",
        by=by,
        at=at,
        was=_state_before(ticket),
        becomes=TicketState.CANCELLED,
        reason=reason,
    )


async def undo_activation(
    tx: Tx, organization_id: UUID, ticket_id: UUID, *, by: str, at: datetime, reason: str
) -> None:
    """Make an activated ticket usable again. It takes a reason, because somebody will ask for it."""
    ticket = await lock_ticket(tx, organization_id, ticket_id)
    if ticket.activated_at is None:
        raise TicketNotFound("There is no such activated ticket.")
    await tx.run(KEEP_SCAN, organization_id, ticket_id)
    await tx.run(UNDO, organization_id, ticket_id, at)
    await audit_log.record(
        tx,
        organization_id,
        "ticket",
        ticket_id,
        "activation undone",
        by=by,
        at=at,
        was=TicketState.ACTIVATED,
        becomes=TicketState.ISSUED,
        reason=reason,
    )
    number = (await numbers_of(tx, organization_id, [ticket.card_id]))[ticket.card_id]
    message = messages.activation_undone(ticket_id, ticket.event_id, number, at=at, reason=reason)
    await webhooks.emit(tx, organization_id, [message], at=at)


async def cancel_some_of_cancelled_events(tx: Tx, *, at: datetime) -> int:
    """Cancel a batch of tickets of one cancelled event, in any organization, with messages; how many there were.

    A ticket that somebody else is changing at this moment comes with the next batch.
    """
    events = await tx.rows(NEXT_CANCELLED)
    if not events:
        return 0
    organization_id, event_id = events[0]["organization_id"], events[0]["id"]
    reason = events[0]["cancel_reason"] or EVENT_CANCELLED
    await tx.run(LOCK_PLACES, organization_id, event_id)
    tickets = await tx.all(LockedTicket, LOCK_SOME, organization_id, event_id, BATCH)
    if tickets:
        ids = [ticket.id for ticket in tickets]
        await tx.run(CANCEL, organization_id, ids, at, reason)
        places = Counter(ticket.category_id for ticket in tickets)
        await tx.run(FREE_PLACES, organization_id, list(places), list(places.values()))
        numbers = await numbers_of(tx, organization_id, [ticket.card_id for ticket in tickets])
        told = [_told(ticket, numbers, at=at, reason=reason) for ticket in tickets]
        await webhooks.emit(tx, organization_id, told, at=at)
        await audit_log.record_all(
            tx, organization_id, "ticket", ids, "cancelled", by="maintenance", at=at,
            was=[_state_before(ticket) for ticket in tickets], becomes=TicketState.CANCELLED, reason=reason,
        )  # fmt: skip
    return len(tickets)


def _state_before(ticket: LockedTicket) -> TicketState:
    return TicketState.ISSUED if ticket.activated_at is None else TicketState.ACTIVATED


def _told(ticket: LockedTicket, numbers: Mapping[UUID, str], *, at: datetime, reason: str) -> Message:
    was_activated = ticket.activated_at is not None
    number = numbers[ticket.card_id]
    return messages.cancelled(ticket.id, ticket.event_id, number, was_activated=was_activated, at=at, reason=reason)


# Of tickets that this transaction has locked and found in use.
CANCEL: Final = """
    UPDATE ticket
       SET cancelled_at = $3, cancel_reason = $4
     WHERE organization_id = $1
       AND id = ANY ($2)
       AND cancelled_at IS NULL
"""

FREE_PLACES: Final = """
    UPDATE ticket_category c
       SET quantity_sold = c.quantity_sold - u.places
      FROM unnest($2::uuid[], $3::integer[]) u (id, places)
     WHERE c.organization_id = $1
       AND c.id = u.id
"""

# For the card's history, which finds an activation through its ticket, and for the journal that brings its scan again.
KEEP_SCAN: Final = """
    INSERT INTO undone_activation (organization_id, ticket_id, scan_at, scan_id, activation_key)
    SELECT organization_id, id, activated_at, activated_by, activation_key
      FROM ticket
     WHERE organization_id = $1
       AND id = $2
       AND activated_at IS NOT NULL
       AND activated_by IS NOT NULL
       AND cancelled_at IS NULL
"""

UNDO: Final = """
    UPDATE ticket
       SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL,
           activation_key = NULL, changed_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND activated_at IS NOT NULL
       AND cancelled_at IS NULL
"""

# One event at a time: the first that has tickets left.
NEXT_CANCELLED: Final = """
    -- every organization: maintenance follows up each cancelled event, whichever organization has it
    SELECT e.organization_id, e.id, e.cancel_reason
      FROM event e
     WHERE e.status = 'cancelled'
       AND EXISTS (SELECT FROM ticket t
                    WHERE t.organization_id = e.organization_id
                      AND t.event_id = e.id
                      AND t.cancelled_at IS NULL)
     LIMIT 1
"""

LOCK_SOME: Final = """
    SELECT id, event_id, category_id, card_id, activated_at, cancelled_at
      FROM ticket
     WHERE organization_id = $1
       AND event_id = $2
       AND cancelled_at IS NULL
     LIMIT $3
       FOR NO KEY UPDATE SKIP LOCKED
"""
