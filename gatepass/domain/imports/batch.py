"""A batch of rows of an import, parsed and looked up: for each row the ticket that it asks for, or its fault."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from gatepass.base.database import Row, Tx
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.job import Fault, Import
from gatepass.domain.imports.row_parser import ParsedRow, RowParser

# Found during the upload; naming the columns differently does not fix them.
OF_THE_FILE: Final = frozenset({Fault.TOO_MANY_CELLS, Fault.UNREADABLE})


@dataclass
class Batch:
    """`reached` is its last line; None if no row was left."""

    reached: int | None
    parsed_rows: dict[int, ParsedRow] = field(default_factory=dict[int, ParsedRow])
    faults: dict[int, Fault] = field(default_factory=dict[int, Fault])
    were: dict[int, str | None] = field(default_factory=dict[int, str | None])
    cards: dict[str, UUID] = field(default_factory=dict[str, UUID])

    def refuse(self, lines: Iterable[int], fault: Fault) -> None:
        for line in list(lines):
            self.faults[line] = fault
            del self.parsed_rows[line]


async def next_batch(tx: Tx, job: Import, categories: list[TicketCategory], size: int, *, again: bool) -> Batch:
    """The next rows. With `again` (in a dry run) faulty rows are parsed again, otherwise they are skipped."""
    rows = await tx.rows(NEXT_ROWS, job.organization_id, job.id, job.reached, size, again)
    batch = Batch(rows[-1]["line"] if rows else None)
    # In a thread: webhooks are sent from this event loop.
    await asyncio.to_thread(_parse, rows, RowParser(job, categories), batch, again=again)
    await _look_up_cards(tx, job, batch)
    await _look_up_references(tx, job, batch)
    return batch


def _parse(rows: Sequence[Row], parser: RowParser, batch: Batch, *, again: bool) -> None:
    for row in rows:
        line, was = row["line"], row["fault"]
        batch.were[line] = was
        if was is not None and (not again or was in OF_THE_FILE):
            batch.faults[line] = Fault(was)
            continue
        parsed = parser.parse(line, row["cells"])
        if isinstance(parsed, ParsedRow):
            batch.parsed_rows[line] = parsed
        else:
            batch.faults[line] = parsed


async def _look_up_cards(tx: Tx, job: Import, batch: Batch) -> None:
    """A card must exist, not be revoked, hold no ticket for the event, and occur once in the batch."""
    of_number = _first_of(batch, "card_number", Fault.DUPLICATE_CARD)
    if not of_number:
        return
    found = {row["number"]: row for row in await tx.rows(CARDS, job.organization_id, job.event_id, list(of_number))}
    for number, line in of_number.items():
        card = found.get(number)
        if card is None:
            batch.refuse([line], Fault.UNKNOWN_CARD)
        elif card["status"] == CardStatus.REVOKED:
            batch.refuse([line], Fault.CARD_REVOKED)
        elif card["has_ticket"]:
            batch.refuse([line], Fault.CARD_HAS_TICKET)
        else:
            batch.cards[number] = card["id"]


async def _look_up_references(tx: Tx, job: Import, batch: Batch) -> None:
    of_reference = _first_of(batch, "reference", Fault.DUPLICATE_REFERENCE)
    if of_reference:
        taken = await tx.rows(TAKEN_REFERENCES, job.organization_id, job.event_id, list(of_reference))
        batch.refuse([of_reference[row["reference"]] for row in taken], Fault.REFERENCE_TAKEN)


def _first_of(batch: Batch, name: str, fault: Fault) -> dict[str, int]:
    """The first line of each value; later lines with the same value are refused."""
    first: dict[str, int] = {}
    for line, parsed in list(batch.parsed_rows.items()):
        value = getattr(parsed, name)
        if value is not None and first.setdefault(value, line) != line:
            batch.refuse([line], fault)
    return first


async def record_faults(tx: Tx, job: Import, batch: Batch) -> None:
    """Write the faults that have changed."""
    changed = {line: batch.faults.get(line) for line, was in batch.were.items() if was != batch.faults.get(line)}
    if changed:
        await tx.run(RECORD_FAULTS, job.organization_id, job.id, list(changed), list(changed.values()))


NEXT_ROWS: Final = """
    SELECT r.line, r.fault, CASE WHEN $5 OR r.fault IS NULL THEN r.cells END AS cells
      FROM import_row r
     WHERE r.organization_id = $1
       AND r.import_id = $2
       AND r.line > $3
     ORDER BY r.line
     LIMIT $4
"""

CARDS: Final = """
    SELECT c.id, c.number, c.status,
           EXISTS (SELECT FROM ticket t
                    WHERE t.organization_id = $1
                      AND t.event_id = $2
                      AND t.card_id = c.id
                      AND t.cancelled_at IS NULL) AS has_ticket
      FROM card c
     WHERE c.organization_id = $1
       AND c.number = ANY ($3)
"""

TAKEN_REFERENCES: Final = """
    SELECT r.reference
      FROM ticket_reference r
      JOIN ticket t ON t.organization_id = $1 AND t.id = r.ticket_id
     WHERE r.organization_id = $1
       AND r.reference = ANY ($3)
       AND r.event_id = $2
       AND t.cancelled_at IS NULL
"""

RECORD_FAULTS: Final = """
    UPDATE import_row r
       SET fault = u.fault
      FROM unnest($3::integer[], $4::text[]) u (line, fault)
     WHERE r.organization_id = $1
       AND r.import_id = $2
       AND r.line = u.line
"""
