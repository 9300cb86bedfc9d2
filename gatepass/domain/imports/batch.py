"""A batch of rows of an import, parsed: for each row the ticket that it asks for, or its fault."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gatepass.base.database import Row, Tx
from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.domain.cards import CardNotFound, CardRevoked, CardSuspended, ExternalIdTaken
from gatepass.domain.events import CategoryNotFound, EventNotFound, TicketCategory
from gatepass.domain.imports.job import Fault, Import, Made, made_id
from gatepass.domain.imports.row_parser import ParsedRow, RowParser
from gatepass.domain.tickets import CardHasTicket, GuestHasTicket, SoldOut, TicketRequest
from gatepass.domain.twin import SandboxFull

# Found during the upload; naming the columns differently does not fix them.
OF_THE_FILE: Final = frozenset({Fault.TOO_MANY_CELLS, Fault.UNREADABLE})

FAULTS: Final[dict[type[Refusal], Fault]] = {
    EventNotFound: Fault.EVENT_CLOSED,
    NotAllowedFromHere: Fault.EVENT_CLOSED,
    CategoryNotFound: Fault.UNKNOWN_CATEGORY,
    CardNotFound: Fault.UNKNOWN_CARD,
    CardSuspended: Fault.CARD_SUSPENDED,
    CardRevoked: Fault.CARD_REVOKED,
    CardHasTicket: Fault.CARD_HAS_TICKET,
    GuestHasTicket: Fault.GUEST_HAS_TICKET,
    ExternalIdTaken: Fault.REFERENCE_TAKEN,
    SoldOut: Fault.SOLD_OUT,
    SandboxFull: Fault.SANDBOX_FULL,
}


@dataclass
class Batch:
    """`reached` is its last line; None if no row was left."""

    reached: int | None
    parsed_rows: dict[int, ParsedRow] = field(default_factory=dict[int, ParsedRow])
    faults: dict[int, Fault] = field(default_factory=dict[int, Fault])
    were: dict[int, str | None] = field(default_factory=dict[int, str | None])

    def refuse(self, lines: Iterable[int], fault: Fault) -> None:
        for line in list(lines):
            self.faults[line] = fault
            del self.parsed_rows[line]

    def requests(self, job: Import) -> dict[int, TicketRequest]:
        """The tickets that the rows without a fault ask for, by line."""
        return {
            line: TicketRequest(
                job.event_id,
                parsed.category_id,
                card_number=parsed.card_number,
                holder=parsed.holder,
                external_id=parsed.reference,
                ticket_id=made_id(job.id, Made.TICKET, line),
                new_card_id=made_id(job.id, Made.CARD, line),
            )
            for line, parsed in self.parsed_rows.items()
        }


async def next_batch(tx: Tx, job: Import, categories: list[TicketCategory], size: int, *, again: bool) -> Batch:
    """The next rows. With `again` (in a dry run) faulty rows are parsed again, otherwise they are skipped."""
    rows = await tx.rows(NEXT_ROWS, job.organization_id, job.id, job.reached, size, again)
    batch = Batch(rows[-1]["line"] if rows else None)
    # In a thread: webhooks are sent from this event loop.
    await asyncio.to_thread(_parse, rows, RowParser(job, categories), batch, again=again)
    _refuse_repeated(batch, "card_number", Fault.DUPLICATE_CARD)
    _refuse_repeated(batch, "reference", Fault.DUPLICATE_REFERENCE)
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


def _refuse_repeated(batch: Batch, name: str, fault: Fault) -> None:
    """Refuse lines whose value stands in an earlier one."""
    first: dict[str, int] = {}
    for line, parsed in list(batch.parsed_rows.items()):
        value = getattr(parsed, name)
        if value is not None and first.setdefault(value, line) != line:
            batch.refuse([line], fault)


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

RECORD_FAULTS: Final = """
    UPDATE import_row r
       SET fault = u.fault
      FROM unnest($3::integer[], $4::text[]) u (line, fault)
     WHERE r.organization_id = $1
       AND r.import_id = $2
       AND r.line = u.line
"""
