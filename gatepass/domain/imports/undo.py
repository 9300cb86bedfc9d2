"""Undoing an import: its tickets and cards are deleted, except those that have been used since.

A ticket that was activated or cancelled stays, with its card; so does a card with another ticket, and one that was
suspended or revoked. For a subscriber the others are cancelled and revoked; nobody can ask for them any more.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Row, Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log, webhooks
from gatepass.domain.cards import CardStatus
from gatepass.domain.cards.locking import LOCK_HOLDERS
from gatepass.domain.cards.messages import status_changed
from gatepass.domain.imports.job import LAST_LINE, Import, ImportState, Made, line_of, made_id
from gatepass.domain.tickets.cancellation import FREE_PLACES
from gatepass.domain.tickets.locking import LOCK_PLACES, LockedTicket, numbers_of
from gatepass.domain.tickets.messages import cancelled
from gatepass.domain.tickets.situation import LOCK_EVENTS

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
    organization_id = job.organization_id
    after, last = made_id(job.id, Made.TICKET, job.reached), made_id(job.id, Made.TICKET, LAST_LINE)
    next_ids = [row["id"] for row in await tx.rows(NEXT, organization_id, after, last, BATCH)]
    if not next_ids:
        await tx.run(UNDONE, organization_id, job.id, at)
        return
    held, own_cards = await _lock(tx, job, next_ids)
    unused = [ticket for ticket in held if ticket.activated_at is None and ticket.cancelled_at is None]
    numbers = await numbers_of(tx, organization_id, [ticket.card_id for ticket in unused])
    was = [numbers[ticket.card_id] for ticket in unused]
    removed = await _remove(tx, organization_id, unused, own_cards)
    await _tell(tx, job, unused, was, removed, at=at)
    await audit_log.record_all(
        tx, organization_id, "ticket", [ticket.id for ticket in unused], REMOVED, by="worker", at=at,
        was=was, reason=IMPORT_UNDONE,
    )  # fmt: skip
    counts = (len(unused), len(next_ids) - len(unused))
    await tx.run(ADVANCE, organization_id, job.id, line_of(next_ids[-1]), *counts, at)


async def _lock(tx: Tx, job: Import, ticket_ids: Sequence[UUID]) -> tuple[list[LockedTicket], list[UUID]]:
    """These tickets as they are now, and those of the cards made for them that are active, all in the one order.

    It waits for a gate that is activating a ticket, and then finds it activated.
    """
    await tx.run(LOCK_EVENTS, job.organization_id, [job.event_id])
    own = [made_id(job.id, Made.CARD, line_of(id)) for id in ticket_ids]
    cards = [row["id"] for row in await tx.rows(LOCK_CARDS, job.organization_id, own)]
    await tx.run(LOCK_HOLDERS, job.organization_id, cards)
    await tx.run(LOCK_PLACES, job.organization_id, job.event_id)
    return await tx.all(LockedTicket, LOCK, job.organization_id, list(ticket_ids)), cards


async def _remove(
    tx: Tx, organization_id: UUID, unused: Sequence[LockedTicket], own_cards: Sequence[UUID]
) -> list[Row]:
    """Remove these tickets, and the cards that were made for them and have no ticket left; those cards."""
    ids = [ticket.id for ticket in unused]
    await tx.run(REMOVE_REFERENCES, organization_id, ids)
    await tx.run(REMOVE_TICKETS, organization_id, ids)
    places = Counter(ticket.category_id for ticket in unused)
    await tx.run(FREE_PLACES, organization_id, list(places), list(places.values()))
    lines = {line_of(id) for id in ids}
    own = [id for id in own_cards if line_of(id) in lines]
    free = [row["id"] for row in await tx.rows(WITHOUT_TICKET, organization_id, own)]
    await tx.run(REMOVE_HOLDERS, organization_id, free)
    return await tx.rows(REMOVE_CARDS, organization_id, free)


async def _tell(
    tx: Tx, job: Import, unused: Sequence[LockedTicket], was: Sequence[str], removed: Sequence[Row], *, at: datetime
) -> None:
    told = [
        cancelled(ticket.id, job.event_id, number, was_activated=False, at=at, reason=IMPORT_UNDONE)
        for ticket, number in zip(unused, was, strict=True)
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

# Nobody adds tickets with these ids, because the import is this transaction's.
NEXT: Final = """
    SELECT id
      FROM ticket
     WHERE organization_id = $1
       AND id > $2
       AND id <= $3
     ORDER BY id
     LIMIT $4
"""

# Locked before they are checked: no other transaction can then give them another ticket.
LOCK_CARDS: Final = """
    SELECT id
      FROM card
     WHERE organization_id = $1
       AND id = ANY ($2)
       AND status = 'active'
     ORDER BY id
       FOR UPDATE
"""

LOCK: Final = """
    SELECT id, event_id, category_id, card_id, activated_at, cancelled_at
      FROM ticket
     WHERE organization_id = $1
       AND id = ANY ($2)
     ORDER BY id
       FOR UPDATE
"""

REMOVE_REFERENCES: Final = """
    DELETE FROM ticket_reference
     WHERE organization_id = $1
       AND ticket_id = ANY ($2)
"""

REMOVE_TICKETS: Final = """
    DELETE FROM ticket
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

WITHOUT_TICKET: Final = """
    SELECT u.id
      FROM unnest($2::uuid[]) u (id)
     WHERE NOT EXISTS (SELECT FROM ticket t
                        WHERE t.organization_id = $1
                          AND t.card_id = u.id)
"""

REMOVE_HOLDERS: Final = """
    DELETE FROM card_holder
     WHERE organization_id = $1
       AND card_id = ANY ($2)
"""

REMOVE_CARDS: Final = """
    DELETE FROM card
     WHERE organization_id = $1
       AND id = ANY ($2)
    RETURNING id, number
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
