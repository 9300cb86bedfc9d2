"""Running imports: one short transaction at a time, for the import that has waited longest, of any organization."""

from datetime import datetime
from typing import Final

from gatepass.base.database import Tx
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.apply import apply_some
from gatepass.domain.imports.dry_run import check_some
from gatepass.domain.imports.job import COLUMNS, Import, ImportState
from gatepass.domain.imports.undo import undo_some


async def next_under_way(tx: Tx) -> Import | None:
    """The import that has waited longest, locked until this transaction ends; None if there is none."""
    return await tx.one(Import, NEXT)


async def advance(tx: Tx, job: Import, *, at: datetime) -> None:
    """Run one batch of an import."""
    if job.state is ImportState.UNDOING:
        await undo_some(tx, job, at=at)
        return
    categories = await tx.all(TicketCategory, CATEGORIES, job.organization_id, job.event_id)
    step = check_some if job.state is ImportState.CHECKING else apply_some
    await step(tx, job, categories, at=at)


async def put_off(tx: Tx, job: Import, *, at: datetime) -> None:
    """After an unexpected error: run other imports first, and try this one again later."""
    await tx.run(PUT_OFF, job.organization_id, job.id, at)


NEXT: Final = """
    -- every organization: a worker serves all of them
    SELECT """ + COLUMNS + """
      FROM import
     WHERE state IN ('checking', 'applying', 'undoing')
     ORDER BY advanced_at
     LIMIT 1
       FOR NO KEY UPDATE SKIP LOCKED
"""  # fmt: skip

CATEGORIES: Final = """
    SELECT id, event_id, name, tier, price_minor, currency, quantity_total, quantity_sold, updated_at,
           valid_from, valid_until, gates
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
     ORDER BY id
"""

PUT_OFF: Final = """
    UPDATE import
       SET advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
