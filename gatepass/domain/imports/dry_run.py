"""The dry run: every row is checked as if it were imported, and nothing is made."""

import json
from collections import Counter
from datetime import datetime
from typing import Final

from gatepass.base.database import Tx
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.batch import Batch, next_batch, record_faults
from gatepass.domain.imports.job import Fault, Field, Import

# A step of a few hundred milliseconds.
BATCH: Final = 2_000


async def check_some(tx: Tx, job: Import, categories: list[TicketCategory], *, at: datetime) -> None:
    """Check the next batch, or mark the import as checked if none is left."""
    batch = await next_batch(tx, job, categories, BATCH, again=True)
    if batch.reached is None:
        await tx.run(CHECKED, job.organization_id, job.id, at)
        return
    await _refuse_repeated(tx, job, batch, Field.CARD_NUMBER, Fault.DUPLICATE_CARD)
    await _refuse_repeated(tx, job, batch, Field.REFERENCE, Fault.DUPLICATE_REFERENCE)
    wanted = await _count_places(tx, job, batch, categories)
    await record_faults(tx, job, batch)
    await tx.run(ADVANCE, job.organization_id, job.id, batch.reached, len(batch.faults), json.dumps(wanted), at)


async def _refuse_repeated(tx: Tx, job: Import, batch: Batch, kind: Field, fault: Fault) -> None:
    """Refuse values that may occur once in a file and occurred in an earlier batch."""
    lines = {
        value: parsed.line for parsed in batch.parsed_rows.values() if (value := getattr(parsed, kind)) is not None
    }
    if lines:
        new = await tx.rows(REMEMBER_KEYS, job.organization_id, job.id, job.round, kind, list(lines))
        batch.refuse([lines[value] for value in lines.keys() - {row["value"] for row in new}], fault)


async def _count_places(tx: Tx, job: Import, batch: Batch, categories: list[TicketCategory]) -> dict[str, int]:
    """Count the places that the rows so far need. A row for which no place is left is refused."""
    wanted = Counter[str](json.loads(await tx.value(WANTED, job.organization_id, job.id)))
    left = {category.id: category.quantity_total - category.quantity_sold for category in categories}
    for line, parsed in list(batch.parsed_rows.items()):
        if wanted[str(parsed.category_id)] >= left[parsed.category_id]:
            batch.refuse([line], Fault.SOLD_OUT)
        else:
            wanted[str(parsed.category_id)] += 1
    return dict(wanted)


REMEMBER_KEYS: Final = """
    INSERT INTO import_key (organization_id, import_id, round, kind, value)
    SELECT $1, $2, $3, $4, u.value
      FROM unnest($5::text[]) u (value)
    ON CONFLICT DO NOTHING
    RETURNING value
"""

WANTED: Final = """
    SELECT wanted
      FROM import
     WHERE organization_id = $1
       AND id = $2
"""

ADVANCE: Final = """
    UPDATE import
       SET reached = $3, faulty = faulty + $4, wanted = $5, advanced_at = $6
     WHERE organization_id = $1
       AND id = $2
"""

CHECKED: Final = """
    UPDATE import
       SET state = 'checked', advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
