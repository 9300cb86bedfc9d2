"""Undoing an import: its tickets and cards are deleted, except those that have been used since.

A ticket that was activated or cancelled stays, with its card; so does a card with another ticket, and one that was
suspended or revoked. For a subscriber the others are cancelled and revoked; nobody can ask for them any more.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Row, Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log, webhooks
from gatepass.domain.cards import CardStatus
from gatepass.domain.cards.messages import status_changed
from gatepass.domain.imports.job import LAST_LINE, Import, ImportState, Made, line_of, made_id
from gatepass.domain.tickets.messages import cancelled

# A gate that scans one of these waits for the batch.
BATCH: Final = 500
IMPORT_UNDONE: Final = "import undone"
# The action of an entry. The ticket is gone, and its card may be: the entry has the number.
REMOVED: Final = "removed"


async def begin_undoing(tx: Tx, organization_id: UUID, import_id: UUID, *, by: str, at: datetime, reason: str) -> None:
    if not await tx.run(BEGIN, organization_id, import_id, at):
        raise NotAllowedFromHere("Only an import that is done can be undone.")
    await audit_log.record(
        tx, organization_id, "import", import_id, "undone", by=by, at=at,
        was=ImportState.DONE, becomes=ImportState.UNDOING, reason=reason,
    )  # fmt: skip


async def undo_some(tx: Tx, job: Import, *, at: datetime) -> None:
    """Delete the next tickets and the cards that were made for them, or end the import if none is left."""
    await tx.run(HOLD_EVENT, job.organization_id, job.event_id)
    after, last = made_id(job.id, Made.TICKET, job.reached), made_id(job.id, Made.TICKET, LAST_LINE)
    held = await tx.rows(HOLD, job.organization_id, after, last, BATCH)
    if not held:
        await tx.run(UNDONE, job.organization_id, job.id, at)
        return
    unused = [row for row in held if row["activated_at"] is None and row["cancelled_at"] is None]
    await tx.run(REMOVE_TICKETS, job.organization_id, job.event_id, [row["id"] for row in unused])
    own = [made_id(job.id, Made.CARD, line_of(row["id"])) for row in unused]
    cards = [row["id"] for row in await tx.rows(HOLD_CARDS, job.organization_id, own)]
    removed = await tx.rows(REMOVE_CARDS, job.organization_id, cards)
    await _tell(tx, job, unused, removed, at=at)
    await audit_log.record_all(
        tx, job.organization_id, "ticket", [row["id"] for row in unused], REMOVED, by="worker", at=at,
        was=[row["number"] for row in unused], reason=IMPORT_UNDONE,
    )  # fmt: skip
    counts = (len(unused), len(held) - len(unused))
    await tx.run(ADVANCE, job.organization_id, job.id, line_of(held[-1]["id"]), *counts, at)


async def _tell(tx: Tx, job: Import, unused: Sequence[Row], removed: Sequence[Row], *, at: datetime) -> None:
    told = [
        cancelled(row["id"], job.event_id, row["number"], was_activated=False, at=at, reason=IMPORT_UNDONE)
        for row in unused
    ]
    told += [
        status_changed(row["id"], row["number"], CardStatus.ACTIVE, CardStatus.REVOKED, at=at, reason=IMPORT_UNDONE)
        for row in removed
    ]
    await webhooks.emit(tx, job.organization_id, told, at=at)


BEGIN: Final = """
    UPDATE import
       SET state = 'undoing', reached = 0, tickets_removed = 0, tickets_kept = 0, advanced_at = $3, ended_at = NULL
     WHERE organization_id = $1
       AND id = $2
       AND state = 'done'
"""

# Who issues tickets locks the event first, then cards and categories; so does this.
HOLD_EVENT: Final = """
    SELECT true
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

# This waits for a gate that is activating a ticket, and then reads it as activated.
HOLD: Final = """
    SELECT t.id, t.activated_at, t.cancelled_at,
           (SELECT c.number FROM card c WHERE c.organization_id = $1 AND c.id = t.card_id) AS number
      FROM ticket t
     WHERE t.organization_id = $1
       AND t.id > $2
       AND t.id <= $3
     ORDER BY t.id
     LIMIT $4
       FOR UPDATE OF t
"""

REMOVE_TICKETS: Final = """
    WITH gone AS (
        DELETE FROM ticket t
         WHERE t.organization_id = $1
           AND t.id = ANY ($3)
        RETURNING t.id, t.category_id
    ),
    forgotten AS (
        DELETE FROM ticket_reference r
         WHERE r.organization_id = $1
           AND r.ticket_id = ANY ($3)
    )
    UPDATE ticket_category c
       SET quantity_sold = c.quantity_sold - g.places
      FROM (SELECT category_id, count(*)::integer AS places FROM gone GROUP BY category_id) g
     WHERE c.organization_id = $1
       AND c.event_id = $2
       AND c.id = g.category_id
"""

# Locked before they are checked: no other transaction can then give them another ticket.
HOLD_CARDS: Final = """
    SELECT id
      FROM card
     WHERE organization_id = $1
       AND id = ANY ($2)
       AND status = 'active'
     ORDER BY id
       FOR UPDATE
"""

REMOVE_CARDS: Final = """
    WITH free AS (
        SELECT u.id
          FROM unnest($2::uuid[]) u (id)
         WHERE NOT EXISTS (SELECT FROM ticket t
                            WHERE t.organization_id = $1
                              AND t.card_id = u.id)
    ),
    forgotten AS (
        DELETE FROM card_holder h
         USING free
         WHERE h.organization_id = $1
           AND h.card_id = free.id
    )
    DELETE FROM card c
     USING free
     WHERE c.organization_id = $1
       AND c.id = free.id
    RETURNING c.id, c.number
"""

ADVANCE: Final = """
    UPDATE import
       SET reached = $3, tickets_removed = tickets_removed + $4, tickets_kept = tickets_kept + $5, advanced_at = $6
     WHERE organization_id = $1
       AND id = $2
"""

UNDONE: Final = """
    UPDATE import
       SET state = 'undone', reached = last_line, advanced_at = $3, ended_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
