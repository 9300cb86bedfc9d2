"""Taking imports further, one short transaction at a time, in whichever organization has waited longest."""

from datetime import datetime
from typing import Final

from gatepass.base.database import Tx
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.applying import apply_some
from gatepass.domain.imports.checking import check_some
from gatepass.domain.imports.job import Import, ImportState
from gatepass.domain.imports.undoing import undo_some


async def next_under_way(tx: Tx) -> Import | None:
    """The import that has waited longest, held until this transaction ends; None if there is nothing to do."""
    return await tx.one(Import, NEXT)


async def advance(tx: Tx, job: Import, *, at: datetime) -> None:
    """Take an import a step further."""
    if job.state is ImportState.UNDOING:
        await undo_some(tx, job, at=at)
        return
    categories = await tx.all(TicketCategory, CATEGORIES, job.organization_id, job.event_id)
    step = check_some if job.state is ImportState.CHECKING else apply_some
    await step(tx, job, categories, at=at)


async def put_off(tx: Tx, job: Import, *, at: datetime) -> None:
    """A step failed for no reason that we foresaw: others come first, and this one is tried again."""
    await tx.run(PUT_OFF, job.organization_id, job.id, at)


NEXT: Final = """
    -- every organization: a worker serves them all
    SELECT organization_id, id, event_id, file_name, state, problem, header, columns, category_id, round, row_count,
           last_line, reached, faulty, tickets_made, cards_made, tickets_removed, tickets_kept, created_at, created_by,
           ended_at
      FROM import
     WHERE state IN ('checking', 'applying', 'undoing')
     ORDER BY advanced_at
     LIMIT 1
       FOR NO KEY UPDATE SKIP LOCKED
"""

CATEGORIES: Final = """
    SELECT id, event_id, name, tier, price_minor, currency, quantity_total, quantity_sold
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
