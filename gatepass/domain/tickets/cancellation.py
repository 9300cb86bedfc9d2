"""Taking a ticket out of use, or taking an activation back."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import changes
from gatepass.domain.tickets.ticket import TicketCancelled, TicketNotFound, TicketState

# Few enough that a gate never waits noticeably for the rows of one batch.
BATCH: Final = 500


async def cancel(tx: Tx, organization_id: UUID, ticket_id: UUID, *, by: str, at: datetime, reason: str) -> None:
    """Take a ticket out of use, activated or not; its place can be sold again."""
    row = await tx.rows(CANCEL, organization_id, ticket_id, at, reason)
    if not row:
        await _explain(tx, organization_id, ticket_id)
    await changes.note(
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
    """Give an activated ticket back to its holder; with a reason, because somebody will ask."""
    if not await tx.run(UNDO, organization_id, ticket_id):
        await _explain(tx, organization_id, ticket_id)
    await changes.note(
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
    """Cancel a batch of tickets whose event is cancelled, in any organization; how many that were."""
    return int(await tx.value(CANCEL_SOME, at, BATCH))


async def _explain(tx: Tx, organization_id: UUID, ticket_id: UUID) -> None:
    """Why nothing was changed: there is no such ticket, or it is not in a state for it."""
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
        RETURNING organization_id, category_id, activated_at IS NOT NULL AS was_activated
    )
    UPDATE ticket_category c
       SET quantity_sold = c.quantity_sold - 1
      FROM cancelled t
     WHERE c.organization_id = t.organization_id
       AND c.id = t.category_id
    RETURNING t.was_activated
"""

UNDO: Final = """
    UPDATE ticket
       SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL
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

CANCEL_SOME: Final = """
    -- every organization: upkeep follows up each cancelled event, wherever it is
    WITH due AS (
        SELECT t.organization_id, t.id
          FROM event e
          JOIN ticket t ON t.organization_id = e.organization_id
                       AND t.event_id = e.id
                       AND t.cancelled_at IS NULL
         WHERE e.status = 'cancelled'
         LIMIT $2
           FOR NO KEY UPDATE OF t SKIP LOCKED
    ),
    cancelled AS (
        UPDATE ticket t
           SET cancelled_at = $1, cancel_reason = 'event cancelled'
          FROM due
         WHERE t.organization_id = due.organization_id
           AND t.id = due.id
        RETURNING t.organization_id, t.category_id
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
    SELECT count(*) FROM cancelled
"""
