"""Some rows of an import, read and looked up: what each of them asks for, or why it cannot be had."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from gatepass.base.database import Row, Tx
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import TicketCategory
from gatepass.domain.imports.job import Fault, Import
from gatepass.domain.imports.wishes import Reader, Wish

# Found while the file came in; naming the columns otherwise does not mend them.
OF_THE_FILE: Final = frozenset({Fault.TOO_MANY_CELLS, Fault.UNREADABLE})


@dataclass
class Batch:
    """`reached` is its last line; None when there was no row left."""

    reached: int | None
    wishes: dict[int, Wish] = field(default_factory=dict[int, Wish])
    faults: dict[int, Fault] = field(default_factory=dict[int, Fault])
    were: dict[int, str | None] = field(default_factory=dict[int, str | None])
    cards: dict[str, UUID] = field(default_factory=dict[str, UUID])

    def refuse(self, lines: Iterable[int], fault: Fault) -> None:
        for line in list(lines):
            self.faults[line] = fault
            del self.wishes[line]


async def next_batch(tx: Tx, job: Import, categories: list[TicketCategory], size: int, *, again: bool) -> Batch:
    """The next rows. Those that were found faulty are read `again` by a check, and passed over otherwise."""
    rows = await tx.rows(NEXT_ROWS, job.organization_id, job.id, job.reached, size, again)
    batch = Batch(rows[-1]["line"] if rows else None)
    reader = Reader(job, categories)
    for row in rows:
        _read(row, reader, batch, again=again)
    await _look_up_cards(tx, job, batch)
    await _look_up_references(tx, job, batch)
    return batch


def _read(row: Row, reader: Reader, batch: Batch, *, again: bool) -> None:
    line, was = row["line"], row["fault"]
    batch.were[line] = was
    if was is not None and (not again or was in OF_THE_FILE):
        batch.faults[line] = Fault(was)
        return
    read = reader.read(line, row["cells"])
    if isinstance(read, Wish):
        batch.wishes[line] = read
    else:
        batch.faults[line] = read


async def _look_up_cards(tx: Tx, job: Import, batch: Batch) -> None:
    """Cards must be there, not revoked, and without a ticket for the event; each once among these rows."""
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
    """The line of each value; later lines with the same are refused."""
    first: dict[str, int] = {}
    for line, wish in list(batch.wishes.items()):
        value = getattr(wish, name)
        if value is not None and first.setdefault(value, line) != line:
            batch.refuse([line], fault)
    return first


async def note_faults(tx: Tx, job: Import, batch: Batch) -> None:
    """Write down what has changed since the rows were last looked at."""
    changed = {line: batch.faults.get(line) for line, was in batch.were.items() if was != batch.faults.get(line)}
    if changed:
        await tx.run(NOTE_FAULTS, job.organization_id, job.id, list(changed), list(changed.values()))


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

NOTE_FAULTS: Final = """
    UPDATE import_row r
       SET fault = u.fault
      FROM unnest($3::integer[], $4::text[]) u (line, fault)
     WHERE r.organization_id = $1
       AND r.import_id = $2
       AND r.line = u.line
"""
