"""The dry run: every row is checked as if it were imported, and nothing is made."""

import json
from collections import Counter
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.domain import tickets
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.batch import FAULTS, Batch, next_batch, record_faults
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
    if not job.companions:
        await _refuse_known_guests(tx, job, batch)
    wanted = await _judge(tx, job, batch)
    if not job.companions:
        addresses = [parsed.address for parsed in batch.parsed_rows.values() if parsed.address]
        await tx.rows(REMEMBER_KEYS, job.organization_id, job.id, job.round, Field.EMAIL, addresses)
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


async def _refuse_known_guests(tx: Tx, job: Import, batch: Batch) -> None:
    """Refuse guests for whom a row of an earlier batch makes a ticket."""
    guests = {line: parsed.address for line, parsed in batch.parsed_rows.items() if parsed.address}
    rows = await tx.rows(KNOWN_KEYS, job.organization_id, job.id, job.round, Field.EMAIL, list(guests.values()))
    known = {row["value"] for row in rows}
    batch.refuse([line for line, address in guests.items() if address in known], Fault.GUEST_HAS_TICKET)


async def _judge(tx: Tx, job: Import, batch: Batch) -> dict[str, int]:
    """Refuse what could not be issued; the places that the rows so far need, by category."""
    wanted = Counter[str](json.loads(await tx.value(WANTED, job.organization_id, job.id)))
    taken = Counter({UUID(category): places for category, places in wanted.items()})
    requests = batch.requests(job)
    judged = await tickets.check_all(
        tx, job.organization_id, list(requests.values()), taken=taken, companions=job.companions
    )
    for line, found in zip(requests, judged, strict=True):
        if isinstance(found, Refusal):
            batch.refuse([line], FAULTS[type(found)])
        elif found is not None:
            batch.refuse([line], Fault.REFERENCE_TAKEN)
    wanted.update(str(parsed.category_id) for parsed in batch.parsed_rows.values())
    return dict(wanted)


REMEMBER_KEYS: Final = """
    INSERT INTO import_key (organization_id, import_id, round, kind, value)
    SELECT $1, $2, $3, $4, u.value
      FROM unnest($5::text[]) u (value)
    ON CONFLICT DO NOTHING
    RETURNING value
"""

KNOWN_KEYS: Final = """
    SELECT value
      FROM import_key
     WHERE organization_id = $1
       AND import_id = $2
       AND round = $3
       AND kind = $4
       AND value = ANY ($5)
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
