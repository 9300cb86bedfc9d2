"""Making the tickets: a batch is one short transaction, and its rows go as their tickets come.

The event's row is held meanwhile, so that nobody else takes a place or a card of this event under way. Gates read that
row and never wait for it.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes
from gatepass.domain.cards import SERIALS, written
from gatepass.domain.events import EventStatus, TicketCategory
from gatepass.domain.imports.batch import Batch, next_batch, note_faults
from gatepass.domain.imports.job import Fault, Import, ImportState, Made, made_id
from gatepass.domain.imports.staging import TAKES_TICKETS
from gatepass.domain.imports.wishes import Wish

# A batch holds the event and its categories for a tenth of a second or so.
BATCH: Final = 1_000


async def begin_applying(tx: Tx, organization_id: UUID, import_id: UUID, *, by: str, at: datetime) -> None:
    """Have the tickets made of every row that was found good."""
    if not await tx.run(BEGIN, organization_id, import_id, at):
        raise NotAllowedFromHere("This import is not waiting to be applied.")
    await changes.note(
        tx, organization_id, "import", import_id, "applied", by=by, at=at,
        was=ImportState.CHECKED, becomes=ImportState.APPLYING,
    )  # fmt: skip


async def apply_some(tx: Tx, job: Import, categories: list[TicketCategory], *, at: datetime) -> None:
    """Make the next tickets, or note that all are made."""
    status = await tx.value(HOLD_EVENT, job.organization_id, job.event_id)
    batch = await next_batch(tx, job, categories, BATCH, again=False)
    if batch.reached is None:
        await tx.run(DONE, job.organization_id, job.id, at)
        return
    if EventStatus(status) not in TAKES_TICKETS:
        batch.refuse(batch.wishes, Fault.EVENT_CLOSED)
    await _take_places(tx, job, batch)
    made_cards = await _make_cards(tx, job, [wish for wish in batch.wishes.values() if not wish.card_number], at)
    await _make_tickets(tx, job, batch, at)
    await note_faults(tx, job, batch)
    newly_faulty = sum(batch.were[line] is None for line in batch.faults)
    counts = (len(batch.wishes), made_cards, newly_faulty)
    await tx.run(ADVANCE, job.organization_id, job.id, batch.reached, *counts, at)


async def _take_places(tx: Tx, job: Import, batch: Batch) -> None:
    """Once a category and batch. Who comes when none is left is refused."""
    wanted = Counter(wish.category_id for wish in batch.wishes.values())
    if not wanted:
        return
    rows = await tx.rows(HOLD_CATEGORIES, job.organization_id, job.event_id, list(wanted))
    left = Counter({row["id"]: row["places"] for row in rows})
    for line, wish in list(batch.wishes.items()):
        if left[wish.category_id] <= 0:
            batch.refuse([line], Fault.SOLD_OUT)
        left[wish.category_id] -= 1
    taken = Counter(wish.category_id for wish in batch.wishes.values())
    await tx.run(TAKE_PLACES, job.organization_id, job.event_id, list(taken), list(taken.values()))


async def _make_cards(tx: Tx, job: Import, wishes: Sequence[Wish], at: datetime) -> int:
    """New cards with their holders. Two random numbers meet now and then; the later card draws another one."""
    prefix = await tx.value(PREFIX, job.organization_id)
    missing = {made_id(job.id, Made.CARD, wish.line): wish for wish in wishes}
    while missing:
        numbers = [written(prefix, secrets.randbelow(SERIALS)) for _ in missing]
        made = await tx.rows(MAKE_CARDS, job.organization_id, list(missing), numbers, at)
        missing = {id: wish for id, wish in missing.items() if id not in {row["id"] for row in made}}
    named = [wish for wish in wishes if wish.name]
    ids = [made_id(job.id, Made.CARD, wish.line) for wish in named]
    if named:
        columns = ([wish.name for wish in named], [wish.email for wish in named])
        await tx.run(MAKE_HOLDERS, job.organization_id, ids, *columns)
    return len(wishes)


async def _make_tickets(tx: Tx, job: Import, batch: Batch, at: datetime) -> None:
    wishes = list(batch.wishes.values())
    if not wishes:
        return
    ids = [made_id(job.id, Made.TICKET, wish.line) for wish in wishes]
    cards = [
        batch.cards[wish.card_number] if wish.card_number else made_id(job.id, Made.CARD, wish.line) for wish in wishes
    ]
    categories = [wish.category_id for wish in wishes]
    await tx.run(MAKE_TICKETS, job.organization_id, job.event_id, ids, categories, cards, at)
    referred = [(wish.reference, id) for wish, id in zip(wishes, ids, strict=True) if wish.reference]
    if referred:
        references, of_tickets = zip(*referred, strict=True)
        await tx.run(REFER, job.organization_id, job.event_id, list(references), list(of_tickets))
    await tx.run(GONE, job.organization_id, job.id, [wish.line for wish in wishes])


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

# A reference whose ticket was cancelled may be used again.
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
