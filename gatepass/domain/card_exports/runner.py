"""Running exports: a worker claims one, makes a part without a transaction, and records it.

A claim is a lease. A worker that comes back later than that finds that another one has gone on, and records nothing:
the place of the part is the fencing token.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.ids import new_id
from gatepass.base.text import safe_line
from gatepass.domain.card_exports.batch import Batch
from gatepass.domain.card_exports.file_parts import delete_parts, sealed_context
from gatepass.domain.card_exports.job import COLUMNS, KEPT_FOR, CardExport
from gatepass.domain.card_sheets import FIRST_OBJECT, PdfPart, beginning, ending

# Longer than a worker may draw one part, so that no part is drawn twice at the same time.
LEASE: Final = timedelta(seconds=60)
# After an unexpected error an export is tried again this much later, and given up after the last try.
LATER: Final = timedelta(seconds=30)
MOST_FAILURES: Final = 5
FAILED: Final = "It could not be made. The log of the worker says why."
NONE_LEFT: Final = "No card with an unused ticket was left."

# Without it Excel does not read the file as UTF-8.
BYTE_ORDER_MARK: Final = "\ufeff"
CSV_HEADER: Final = ("card number", "link", "token", "token until", "name", "category")


async def claim(tx: Tx, *, at: datetime) -> CardExport | None:
    """The export that has waited longest, for the time of a lease; None if there is none."""
    job = await tx.one(CardExport, NEXT, at)
    if job is not None:
        await tx.run(MOVE_DUE, job.organization_id, job.id, at + LEASE)
    return job


async def put_off(tx: Tx, job: CardExport, *, at: datetime) -> None:
    """After an unexpected error: run other exports first, and give this one up after several."""
    if job.failures + 1 >= MOST_FAILURES:
        await fail(tx, job, FAILED, at=at)
    else:
        await tx.run(PUT_OFF, job.organization_id, job.id, at + LATER)


async def fail(tx: Tx, job: CardExport, problem: str, *, at: datetime) -> None:
    await tx.run(FAIL, job.organization_id, job.id, at, problem)
    await delete_parts(tx, job.organization_id, job.id)


async def record_csv(tx: Tx, job: CardExport, batch: Batch, vault: Vault, *, at: datetime) -> bool:
    """Store the next lines. False if the export was stopped, or another worker went on with it."""
    until = job.token_until.isoformat()
    lines = [
        safe_line((card.number, link, card.token, until if card.token else None, card.name, card.category))
        for card, link in zip(batch.cards, batch.links, strict=True)
    ]
    text = "".join(lines)
    if job.parts == 0:
        text = BYTE_ORDER_MARK + safe_line(CSV_HEADER) + text
    content = text.encode()
    if not await _advance(tx, job, batch, (0, len(content), 0, 0), at=at):
        return False
    await _store(tx, job, job.parts, content, vault)
    if batch.is_last:
        await _finish(tx, job, batch, added=0, at=at)
    return True


async def record_pdf(
    tx: Tx, job: CardExport, batch: Batch, part: PdfPart | None, vault: Vault, *, boxed: int = 0, at: datetime
) -> bool:
    """Store the next pages, and after the last of them the end of the file.

    `part` is None for a batch without cards; `boxed` is how many names have letters that the fonts lack.
    """
    first = next_object(job)
    content, begins_at = part.content if part else b"", job.size
    if job.parts == 0:
        content, begins_at = beginning() + content, len(beginning())
    offsets = [begins_at + offset for offset in part.offsets] if part else []
    pages = part.pages if part else 0
    if not await _advance(tx, job, batch, (boxed, len(content), first + len(offsets), pages), at=at):
        return False
    await _store(tx, job, job.parts, content, vault, first_object=first, pages=pages, offsets=offsets)
    if batch.is_last:
        stored = await tx.rows(PARTS, job.organization_id, job.id)
        branches = [(row["first_object"], row["pages"]) for row in stored if row["pages"]]
        all_offsets = [offset for row in stored for offset in row["offsets"]]
        end = ending(branches, all_offsets, job.size + len(content), batch.event.title)
        await _store(tx, job, job.parts + 1, end, vault)
        await _finish(tx, job, batch, added=len(end), at=at)
    return True


def next_object(job: CardExport) -> int:
    """The number of the first object of the next part of a PDF."""
    return job.objects or FIRST_OBJECT


async def _advance(tx: Tx, job: CardExport, batch: Batch, counts: tuple[int, int, int, int], *, at: datetime) -> bool:
    """The counts are of names with boxes, of bytes, of objects so far, and of pages."""
    counted = (len(batch.cards), *counts)
    return bool(await tx.run(ADVANCE, job.organization_id, job.id, job.parts, batch.reached, *counted, at))


async def _store(
    tx: Tx, job: CardExport, place: int, content: bytes, vault: Vault,
    *, first_object: int = 0, pages: int = 0, offsets: Sequence[int] = (),
) -> None:  # fmt: skip
    part_id = new_id()
    sealed = vault.seal(content, sealed_context(job.organization_id, part_id))
    await tx.run(STORE, job.organization_id, part_id, job.id, place, sealed, first_object, pages, list(offsets))


async def _finish(tx: Tx, job: CardExport, batch: Batch, *, added: int, at: datetime) -> None:
    """The file is ready; or there is none, because every ticket was used since the count."""
    if job.done + len(batch.cards) == 0:
        await fail(tx, job, NONE_LEFT, at=at)
        return
    await tx.run(READY, job.organization_id, job.id, at, at + KEPT_FOR, added)


NEXT: Final = """
    -- every organization: a worker serves all of them
    SELECT """ + COLUMNS + """
      FROM card_export
     WHERE state = 'under_way'
       AND due_at <= $1
     ORDER BY due_at
     LIMIT 1
       FOR NO KEY UPDATE SKIP LOCKED
"""  # fmt: skip

MOVE_DUE: Final = """
    UPDATE card_export
       SET due_at = $3
     WHERE organization_id = $1
       AND id = $2
"""

PUT_OFF: Final = """
    UPDATE card_export
       SET due_at = $3, failures = failures + 1
     WHERE organization_id = $1
       AND id = $2
       AND state = 'under_way'
"""

FAIL: Final = """
    UPDATE card_export
       SET state = 'failed', ended_at = $3, problem = $4, ticket_ids = NULL
     WHERE organization_id = $1
       AND id = $2
       AND state = 'under_way'
"""

ADVANCE: Final = """
    UPDATE card_export
       SET reached = $4, done = done + $5, boxed = boxed + $6, size = size + $7, objects = $8, pages = pages + $9,
           due_at = $10, parts = parts + 1, failures = 0
     WHERE organization_id = $1
       AND id = $2
       AND parts = $3
       AND state = 'under_way'
"""

STORE: Final = """
    INSERT INTO card_export_part (organization_id, id, export_id, place, sealed_content, first_object, pages, offsets)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

PARTS: Final = """
    SELECT first_object, pages, offsets
      FROM card_export_part
     WHERE organization_id = $1
       AND export_id = $2
     ORDER BY place
"""

READY: Final = """
    UPDATE card_export
       SET state = 'ready', ended_at = $3, expires_at = $4, size = size + $5,
           parts = parts + CASE WHEN $5 > 0 THEN 1 ELSE 0 END
     WHERE organization_id = $1
       AND id = $2
       AND state = 'under_way'
"""
