"""Applying an import: one short transaction for each batch makes its tickets and deletes their rows.

Tickets are issued as everywhere else; what an import made says that it did, so the audit log has no entry for each. It
has one for each batch, with the ids of its first and last ticket, by which those who follow the event find them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.domain import audit_log, tickets
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.batch import FAULTS, next_batch, record_faults
from gatepass.domain.imports.job import Fault, Import, ImportState
from gatepass.domain.tickets import IssuedTicket, TicketRequest
from gatepass.domain.twin import SandboxFull

# A batch locks the event and its categories for about 0.1 seconds.
BATCH: Final = 1_000
# The action of an entry; `was` and `becomes` are the first and the last ticket of the batch.
TICKETS_MADE: Final = "tickets made"


async def begin_applying(tx: Tx, organization_id: UUID, import_id: UUID, *, by: str, at: datetime) -> None:
    """Begin to make tickets of all rows without a fault."""
    if not await tx.run(BEGIN, organization_id, import_id, at):
        raise NotAllowedFromHere("This import is not waiting to be applied.")
    await audit_log.record(
        tx, organization_id, "import", import_id, "applied", by=by, at=at,
        was=ImportState.CHECKED, becomes=ImportState.APPLYING,
    )  # fmt: skip


async def apply_some(tx: Tx, job: Import, categories: list[TicketCategory], *, at: datetime) -> None:
    """Make the tickets of the next batch, or end the import if none is left."""
    batch = await next_batch(tx, job, categories, BATCH, again=False)
    if batch.reached is None:
        await tx.run(DONE, job.organization_id, job.id, at)
        return
    requests = batch.requests(job)
    outcomes = await _issued(tx, job, list(requests.values()), at=at)
    made_cards = 0
    for line, outcome in zip(requests, outcomes, strict=True):
        if isinstance(outcome, Refusal):
            batch.refuse([line], FAULTS[type(outcome)])
        elif not outcome.is_new:
            batch.refuse([line], Fault.REFERENCE_TAKEN)
        else:
            made_cards += outcome.made_card
    await record_faults(tx, job, batch)
    await tx.run(GONE, job.organization_id, job.id, job.reached, batch.reached)
    issued = [outcome.ticket_id for outcome in outcomes if isinstance(outcome, IssuedTicket) and outcome.is_new]
    if issued:
        await audit_log.record(
            tx, job.organization_id, "import", job.id, TICKETS_MADE, by="worker", at=at,
            was=str(min(issued)), becomes=str(max(issued)),
        )  # fmt: skip
    newly_faulty = sum(batch.were[line] is None for line in batch.faults)
    counts = (len(batch.parsed_rows), made_cards, newly_faulty)
    await tx.run(ADVANCE, job.organization_id, job.id, batch.reached, *counts, at)


async def _issued(
    tx: Tx, job: Import, requests: list[TicketRequest], *, at: datetime
) -> Sequence[IssuedTicket | Refusal]:
    """The outcome of each. A batch that a sandbox has no room for is refused as a whole."""
    try:
        async with tx.savepoint():
            return await tickets.issue_all(tx, job.organization_id, requests, by=None, at=at, companions=job.companions)
    except SandboxFull as refusal:
        return [refusal] * len(requests)


BEGIN: Final = """
    UPDATE import
       SET state = 'applying', reached = 0, advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND state = 'checked'
"""

GONE: Final = """
    DELETE FROM import_row
     WHERE organization_id = $1
       AND import_id = $2
       AND line > $3
       AND line <= $4
       AND fault IS NULL
"""

ADVANCE: Final = """
    UPDATE import
       SET reached = $3, tickets_made = tickets_made + $4, cards_made = cards_made + $5, faulty = faulty + $6,
           advanced_at = $7
     WHERE organization_id = $1
       AND id = $2
"""

DONE: Final = """
    UPDATE import
       SET state = 'done', reached = last_line, advanced_at = $3, ended_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
