"""Cancelling a ticket, and undoing an activation."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Row, Tx
from gatepass.domain import audit_log, webhooks
from gatepass.domain.tickets import messages
from gatepass.domain.tickets.ticket import TicketCancelled, TicketNotFound, TicketState
from gatepass.domain.webhooks import Message

# Few enough that a gate never waits noticeably for the rows of one batch.
BATCH: Final = 500
# The reason if the event has none, because version 0.2 cancelled it.
EVENT_CANCELLED: Final = "event cancelled"


async def cancel(tx: Tx, organization_id: UUID, ticket_id: UUID, *, by: str, at: datetime, reason: str) -> None:
    """Cancel a ticket, activated or not, and emit a message; its place is free again."""
    row = await tx.rows(CANCEL, organization_id, ticket_id, at, reason)
    if not row:
        await _explain(tx, organization_id, ticket_id)
    await webhooks.emit(tx, organization_id, [_told(row[0], at=at, reason=reason)], at=at)
    await audit_log.record(
        tx,
        organization_id,
        "ticket",
        ticket_id,
        "cancelled",
        by=by,
        at=at,
        was=_state_before(row[0]),
        becomes=TicketState.CANCELLED,
        reason=reason,
    )


async def undo_activation(
    tx: Tx, organization_id: UUID, ticket_id: UUID, *, by: str, at: datetime, reason: str
) -> None:
    """Make an activated ticket usable again. It takes a reason, because somebody will ask for it."""
    await tx.run(KEEP_SCAN, organization_id, ticket_id)
    undone = await tx.rows(UNDO, organization_id, ticket_id, at)
    if not undone:
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
    message = messages.activation_undone(**undone[0], at=at, reason=reason)
    await webhooks.emit(tx, organization_id, [message], at=at)


async def cancel_some_of_cancelled_events(tx: Tx, *, at: datetime) -> int:
    """Cancel a batch of tickets of one cancelled event, in any organization, with messages; how many there were."""
    rows = await tx.rows(CANCEL_SOME, at, BATCH, EVENT_CANCELLED)
    if rows:
        organization_id = rows[0]["organization_id"]
        told = [_told(row, at=at, reason=row["reason"]) for row in rows]
        await webhooks.emit(tx, organization_id, told, at=at)
        await audit_log.record_all(
            tx, organization_id, "ticket", [row["ticket_id"] for row in rows], "cancelled", by="maintenance", at=at,
            was=[_state_before(row) for row in rows], becomes=TicketState.CANCELLED, reason=rows[0]["reason"],
        )  # fmt: skip
    return len(rows)


def _state_before(ticket: Row) -> TicketState:
    return TicketState.ACTIVATED if ticket["was_activated"] else TicketState.ISSUED


def _told(ticket: Row, *, at: datetime, reason: str) -> Message:
    id, event_id, number = ticket["ticket_id"], ticket["event_id"], ticket["card_number"]
    return messages.cancelled(id, event_id, number, was_activated=ticket["was_activated"], at=at, reason=reason)


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
       FOR NO KEY UPDATE
"""

UNDO: Final = """
    UPDATE ticket t
       SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL,
           activation_key = NULL, changed_at = $3
      FROM card c
     WHERE t.organization_id = $1
       AND t.id = $2
       AND t.activated_at IS NOT NULL
       AND t.cancelled_at IS NULL
       AND c.organization_id = t.organization_id
       AND c.id = t.card_id
    RETURNING t.id AS ticket_id, t.event_id, c.number AS card_number
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
        SELECT t.organization_id, t.id, e.cancel_reason
          FROM (SELECT e.organization_id, e.id, e.cancel_reason
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
           SET cancelled_at = $1, cancel_reason = coalesce(due.cancel_reason, $3)
          FROM due
         WHERE t.organization_id = due.organization_id
           AND t.id = due.id
        RETURNING t.organization_id, t.id, t.event_id, t.category_id, t.card_id, t.cancel_reason,
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
    SELECT t.organization_id, t.id AS ticket_id, t.event_id, d.number AS card_number, t.was_activated,
           t.cancel_reason AS reason
      FROM cancelled t
      JOIN card d ON d.organization_id = t.organization_id AND d.id = t.card_id
"""
