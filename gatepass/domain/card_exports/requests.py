"""Beginning an export, stopping it, and deleting its file before its day is over."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import audit_log
from gatepass.domain.card_exports.file_parts import delete_parts
from gatepass.domain.card_exports.job import (
    LONGEST_TOKEN,
    MOST_CARDS,
    MOST_CHOSEN,
    MOST_KEPT,
    MOST_UNDER_WAY,
    ExportKind,
    ExportNotFound,
    ExportOrder,
)
from gatepass.domain.card_exports.selection import count
from gatepass.domain.events import EventNotFound, EventStatus

SUBJECT: Final = "card_export"
PRINTED: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED})


async def begin(tx: Tx, organization_id: UUID, form_key: UUID, wanted: ExportOrder, *, by: str, at: datetime) -> UUID:
    """Begin to make a file; its id. A form that is sent twice makes one."""
    status = await tx.value(HOLD_EVENT, organization_id, wanted.event_id)
    if status is None:
        raise EventNotFound
    known = await tx.value(BY_FORM_KEY, organization_id, form_key)
    if known is not None:
        return known
    if EventStatus(status) not in PRINTED:
        raise NotAllowedFromHere(f"An event that is {status} lets nobody in: there is nothing to print.")
    _require_bounds(wanted, at)
    await _require_room(tx, organization_id)
    counted = await count(tx, organization_id, wanted.event_id, wanted.selection, most=MOST_CARDS + 1)
    if counted.looked_at > MOST_CARDS:
        raise InvalidRequest(f"These are more than {MOST_CARDS:,} tickets. Choose a category.", param="category")
    if not counted.usable:
        raise InvalidRequest("None of these cards has an unused ticket.", param="category")
    export_id = new_id()
    selection = wanted.selection
    await tx.run(
        BEGIN, organization_id, export_id, wanted.event_id, form_key, wanted.kind, wanted.layout or "",
        wanted.with_names, selection.category_id, selection.ticket_ids, wanted.token_until, counted.usable, at, by,
    )  # fmt: skip
    words = f"{wanted.kind.upper()} of {counted.usable} cards, tokens until {rfc3339(wanted.token_until)}"
    await audit_log.record(tx, organization_id, SUBJECT, export_id, "begun", by=by, at=at, becomes=words)
    return export_id


def _require_bounds(wanted: ExportOrder, at: datetime) -> None:
    if not at < wanted.token_until <= at + LONGEST_TOKEN:
        raise InvalidRequest(f"Choose a day within the next {LONGEST_TOKEN.days} days.", param="until")
    if (wanted.kind is ExportKind.PDF) != (wanted.layout is not None):
        raise InvalidRequest("A PDF has a layout, and CSV has none.", param="layout")
    chosen = wanted.selection.ticket_ids
    if chosen is not None and not 0 < len(chosen) <= MOST_CHOSEN:
        raise InvalidRequest(f"Choose 1 to {MOST_CHOSEN} tickets.", param="tickets")


async def _require_room(tx: Tx, organization_id: UUID) -> None:
    """Concurrent requests of an organization take turns."""
    await tx.run(TAKE_TURNS, organization_id)
    found = await tx.rows(COUNT_KEPT, organization_id)
    if found[0]["under_way"] >= MOST_UNDER_WAY:
        raise NotAllowedFromHere(f"{MOST_UNDER_WAY} files are being made already. Wait for one, or stop it.")
    if found[0]["kept"] >= MOST_KEPT:
        raise NotAllowedFromHere(f"{MOST_KEPT} files are kept already. Delete one first.")


async def stop(tx: Tx, organization_id: UUID, export_id: UUID, *, by: str, at: datetime) -> None:
    """Stop making a file. What was made of it is gone."""
    if not await tx.run(STOP, organization_id, export_id, at):
        raise NotAllowedFromHere("This file is not being made any more.")
    await delete_parts(tx, organization_id, export_id)
    await audit_log.record(tx, organization_id, SUBJECT, export_id, "stopped", by=by, at=at)


async def delete(tx: Tx, organization_id: UUID, export_id: UUID, *, by: str, at: datetime) -> None:
    """Delete a file that is ready. Its row stays, for the list."""
    if not await tx.run(DELETE, organization_id, export_id, at):
        raise ExportNotFound
    await delete_parts(tx, organization_id, export_id)
    await audit_log.record(tx, organization_id, SUBJECT, export_id, "deleted", by=by, at=at)


# The lock that a foreign key takes too: the event stays while the export is written.
HOLD_EVENT: Final = """
    SELECT status
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR KEY SHARE
"""

BY_FORM_KEY: Final = """
    SELECT id
      FROM card_export
     WHERE organization_id = $1
       AND form_key = $2
"""

TAKE_TURNS: Final = "SELECT true FROM organization WHERE id = $1 FOR NO KEY UPDATE"

COUNT_KEPT: Final = """
    SELECT count(*) FILTER (WHERE state = 'under_way') AS under_way, count(*) AS kept
      FROM card_export
     WHERE organization_id = $1
       AND state IN ('under_way', 'ready')
"""

BEGIN: Final = """
    INSERT INTO card_export (organization_id, id, event_id, form_key, kind, layout, with_names, category_id, ticket_ids,
                             token_until, total, created_at, due_at, created_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13)
"""

STOP: Final = """
    UPDATE card_export
       SET state = 'stopped', ended_at = $3, ticket_ids = NULL
     WHERE organization_id = $1
       AND id = $2
       AND state = 'under_way'
"""

DELETE: Final = """
    UPDATE card_export
       SET state = 'deleted', ended_at = $3, expires_at = $3, ticket_ids = NULL
     WHERE organization_id = $1
       AND id = $2
       AND state = 'ready'
"""
