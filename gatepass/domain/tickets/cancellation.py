"""Cancelling a ticket, and undoing an activation."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Row, Tx
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, webhooks
from gatepass.domain.tickets.ticket import TicketCancelled, TicketNotFound, TicketState
from gatepass.domain.webhooks import Message, MessageType

# Few enough that a gate never waits noticeably for the rows of one batch.
BATCH: Final = 500
EVENT_CANCELLED: Final = "event cancelled"


async def cancel(tx: Tx, organization_id: UUID, ticket_id: UUID, *, by: str, at: datetime, reason: str) -> None:
    """Cancel a ticket, activated or not, and emit a message; its place can be sold again."""
    row = await tx.rows(CANCEL, organization_id, ticket_id, at, reason)
    if not row:
        await _explain(tx, organization_id, ticket_id)
    await webhooks.emit(tx, organization_id, [_message(row[0], at, reason)], at=at)
    await audit_log.record(
        tx,
        organization_id,
        "ticket",
        ticket_id,
        "cancelled",
        by=by,
        at=at,
        was=TicketState.ACTIVATED if row[0]["was_activated"] else TicketState.ISSUED,
        becomes=TicketState.CANCELLED,
        reason=reason,
    )


async def undo_activation(
    tx: Tx, organization_id: UUID, ticket_id: UUID, *, by: str, at: datetime, reason: str
) -> None:
    """Make an activated ticket usable again. It takes a reason, because somebody will ask for it."""
    await tx.run(KEEP_SCAN, organization_id, ticket_id)
    if not await tx.run(UNDO, organization_id, ticket_id, at):
        await _explain(tx, organization_id, ticket_id)
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


async def cancel_some_of_cancelled_events(tx: Tx, *, at: datetime) -> int:
    """Cancel a batch of tickets of one cancelled event, in any organization, with messages; how many there were."""
    rows = await tx.rows(CANCEL_SOME, at, BATCH, EVENT_CANCELLED)
    if rows:
        messages = [_message(row, at, EVENT_CANCELLED) for row in rows]
        await webhooks.emit(tx, rows[0]["organization_id"], messages, at=at)
    return len(rows)


def _message(ticket: Row, at: datetime, reason: str) -> Message:
    data = {
        "ticket_id": str(ticket["ticket_id"]),
        "event_id": str(ticket["event_id"]),
        "card_number": ticket["card_number"],
        "cancelled_at": rfc3339(at),
        "reason": reason,
        "was_activated": ticket["was_activated"],
    }
    return Message(new_id(), MessageType.TICKET_CANCELLED, data, ordering_key=ticket["ticket_id"])


async def _explain(tx: Tx, organization_id: UUID, ticket_id: UUID) -> None:
    """Raise the reason why nothing was changed: there is no such ticket, or its state does not allow it."""
    found = await tx.rows(FIND, organization_id, ticket_id)
    if found and found[0]["cancelled"]:
        raise TicketCancelled
    raise TicketNotFound("There is no such activated ticket." if found else "There is no such ticket.")


CANCEL: Final = """
    WITH cancelled AS (
        UPDATE ticket
           SET cancelled_at = $3, cancel_reason = $4
         WHERE organization_id = $1
           AND id = $2
           AND cancelled_at IS NULL
        RETURNING organization_id, id, event_id, category_id, card_id, activated_at IS NOT NULL AS was_activated
    )
    UPDATE ticket_category c
       SET quantity_sold = c.quantity_sold - 1
      FROM cancelled t
      JOIN card d ON d.organization_id = t.organization_id AND d.id = t.card_id
     WHERE c.organization_id = t.organization_id
       AND c.id = t.category_id
    RETURNING t.id AS ticket_id, t.event_id, d.number AS card_number, t.was_activated
"""

# For the card's history, which finds an activation through its ticket.
KEEP_SCAN: Final = """
    INSERT INTO undone_activation (organization_id, ticket_id, scan_at, scan_id)
    SELECT organization_id, id, activated_at, activated_by
      FROM ticket
     WHERE organization_id = $1
       AND id = $2
       AND activated_at IS NOT NULL
       AND activated_by IS NOT NULL
       AND cancelled_at IS NULL
       FOR NO KEY UPDATE
"""

UNDO: Final = """
    UPDATE ticket
       SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL,
           changed_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND activated_at IS NOT NULL
       AND cancelled_at IS NULL
"""

FIND: Final = """
    SELECT cancelled_at IS NOT NULL AS cancelled
      FROM ticket
     WHERE organization_id = $1
       AND id = $2
"""

# One event at a time: the first that has tickets left.
CANCEL_SOME: Final = """
    -- every organization: maintenance follows up each cancelled event, whichever organization has it
    WITH due AS (
        SELECT t.organization_id, t.id
          FROM (SELECT e.organization_id, e.id
                  FROM event e
                 WHERE e.status = 'cancelled'
                   AND EXISTS (SELECT FROM ticket t
                                WHERE t.organization_id = e.organization_id
                                  AND t.event_id = e.id
                                  AND t.cancelled_at IS NULL)
                 LIMIT 1) e
          JOIN ticket t ON t.organization_id = e.organization_id
                       AND t.event_id = e.id
                       AND t.cancelled_at IS NULL
         LIMIT $2
           FOR NO KEY UPDATE OF t SKIP LOCKED
    ),
    cancelled AS (
        UPDATE ticket t
           SET cancelled_at = $1, cancel_reason = $3
          FROM due
         WHERE t.organization_id = due.organization_id
           AND t.id = due.id
        RETURNING t.organization_id, t.id, t.event_id, t.category_id, t.card_id,
                  t.activated_at IS NOT NULL AS was_activated
    ),
    freed AS (
        UPDATE ticket_category c
           SET quantity_sold = c.quantity_sold - t.tickets
          FROM (SELECT organization_id, category_id, count(*) AS tickets
                  FROM cancelled
                 GROUP BY organization_id, category_id) t
         WHERE c.organization_id = t.organization_id
           AND c.id = t.category_id
    )
    SELECT t.organization_id, t.id AS ticket_id, t.event_id, d.number AS card_number, t.was_activated
      FROM cancelled t
      JOIN card d ON d.organization_id = t.organization_id AND d.id = t.card_id
"""
