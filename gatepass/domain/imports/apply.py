"""Applying an import: one short transaction for each batch makes its tickets and deletes their rows.

It locks the event's row, so that no other transaction takes a place or a card of this event in between. Gates read that
row and never wait for it.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log
from gatepass.domain.cards import SERIALS, format_number
from gatepass.domain.events import EventStatus, TicketCategory
from gatepass.domain.imports.batch import Batch, next_batch, record_faults
from gatepass.domain.imports.job import Fault, Import, ImportState, Made, made_id
from gatepass.domain.imports.row_parser import ParsedRow
from gatepass.domain.imports.upload import TAKES_TICKETS

# A batch locks the event and its categories for about 0.1 seconds.
BATCH: Final = 1_000


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
    status = await tx.value(HOLD_EVENT, job.organization_id, job.event_id)
    batch = await next_batch(tx, job, categories, BATCH, again=False)
    if batch.reached is None:
        await tx.run(DONE, job.organization_id, job.id, at)
        return
    if EventStatus(status) not in TAKES_TICKETS:
        batch.refuse(batch.parsed_rows, Fault.EVENT_CLOSED)
    await _take_places(tx, job, batch)
    made_cards = await _make_cards(
        tx, job, [parsed for parsed in batch.parsed_rows.values() if not parsed.card_number], at
    )
    await _make_tickets(tx, job, batch, at)
    await record_faults(tx, job, batch)
    newly_faulty = sum(batch.were[line] is None for line in batch.faults)
    counts = (len(batch.parsed_rows), made_cards, newly_faulty)
    await tx.run(ADVANCE, job.organization_id, job.id, batch.reached, *counts, at)


async def _take_places(tx: Tx, job: Import, batch: Batch) -> None:
    """Take the places of a batch, with one UPDATE. A row for which no place is left is refused."""
    wanted = Counter(parsed.category_id for parsed in batch.parsed_rows.values())
    if not wanted:
        return
    rows = await tx.rows(HOLD_CATEGORIES, job.organization_id, job.event_id, list(wanted))
    left = Counter({row["id"]: row["places"] for row in rows})
    for line, parsed in list(batch.parsed_rows.items()):
        if left[parsed.category_id] <= 0:
            batch.refuse([line], Fault.SOLD_OUT)
        left[parsed.category_id] -= 1
    taken = Counter(parsed.category_id for parsed in batch.parsed_rows.values())
    await tx.run(TAKE_PLACES, job.organization_id, job.event_id, list(taken), list(taken.values()))


async def _make_cards(tx: Tx, job: Import, parsed_rows: Sequence[ParsedRow], at: datetime) -> int:
    """New cards with their holders. If a random number is taken, another one is drawn."""
    prefix = await tx.value(PREFIX, job.organization_id)
    missing = {made_id(job.id, Made.CARD, parsed.line): parsed for parsed in parsed_rows}
    while missing:
        numbers = [format_number(prefix, secrets.randbelow(SERIALS)) for _ in missing]
        made = await tx.rows(MAKE_CARDS, job.organization_id, list(missing), numbers, at)
        missing = {id: parsed for id, parsed in missing.items() if id not in {row["id"] for row in made}}
    named = [parsed for parsed in parsed_rows if parsed.name]
    ids = [made_id(job.id, Made.CARD, parsed.line) for parsed in named]
    if named:
        columns = ([parsed.name for parsed in named], [parsed.email for parsed in named])
        await tx.run(MAKE_HOLDERS, job.organization_id, ids, *columns)
    return len(parsed_rows)


async def _make_tickets(tx: Tx, job: Import, batch: Batch, at: datetime) -> None:
    parsed_rows = list(batch.parsed_rows.values())
    if not parsed_rows:
        return
    ids = [made_id(job.id, Made.TICKET, parsed.line) for parsed in parsed_rows]
    cards = [
        batch.cards[parsed.card_number] if parsed.card_number else made_id(job.id, Made.CARD, parsed.line)
        for parsed in parsed_rows
    ]
    categories = [parsed.category_id for parsed in parsed_rows]
    await tx.run(MAKE_TICKETS, job.organization_id, job.event_id, ids, categories, cards, at)
    referred = [(parsed.reference, id) for parsed, id in zip(parsed_rows, ids, strict=True) if parsed.reference]
    if referred:
        references, of_tickets = zip(*referred, strict=True)
        await tx.run(REFER, job.organization_id, job.event_id, list(references), list(of_tickets))
    await tx.run(GONE, job.organization_id, job.id, [parsed.line for parsed in parsed_rows])


BEGIN: Final = """
    UPDATE import
       SET state = 'applying', reached = 0, advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND state = 'checked'
"""

HOLD_EVENT: Final = """
    SELECT status
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

HOLD_CATEGORIES: Final = """
    SELECT id, quantity_total - quantity_sold AS places
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
       AND id = ANY ($3)
     ORDER BY id
       FOR NO KEY UPDATE
"""

TAKE_PLACES: Final = """
    UPDATE ticket_category c
       SET quantity_sold = c.quantity_sold + u.places
      FROM unnest($3::uuid[], $4::integer[]) u (id, places)
     WHERE c.organization_id = $1
       AND c.event_id = $2
       AND c.id = u.id
"""

PREFIX: Final = """
    SELECT card_prefix
      FROM organization
     WHERE id = $1
"""

MAKE_CARDS: Final = """
    INSERT INTO card (organization_id, id, number, issued_at)
    SELECT $1, u.id, u.number, $4
      FROM unnest($2::uuid[], $3::text[]) u (id, number)
    ON CONFLICT (organization_id, number) DO NOTHING
    RETURNING id
"""

MAKE_HOLDERS: Final = """
    INSERT INTO card_holder (organization_id, card_id, name, email)
    SELECT $1, u.card_id, u.name, u.email
      FROM unnest($2::uuid[], $3::text[], $4::text[]) u (card_id, name, email)
"""

MAKE_TICKETS: Final = """
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
    SELECT $1, u.id, $2, u.category_id, u.card_id, $6
      FROM unnest($3::uuid[], $4::uuid[], $5::uuid[]) u (id, category_id, card_id)
"""

# The reference of a cancelled ticket may be used again.
REFER: Final = """
    INSERT INTO ticket_reference (organization_id, event_id, reference, ticket_id)
    SELECT $1, $2, u.reference, u.ticket_id
      FROM unnest($3::text[], $4::uuid[]) u (reference, ticket_id)
    ON CONFLICT (organization_id, reference, event_id) DO UPDATE SET ticket_id = excluded.ticket_id
"""

GONE: Final = """
    DELETE FROM import_row
     WHERE organization_id = $1
       AND import_id = $2
       AND line = ANY ($3)
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
