"""Reading imports: one by its id, those of an event, and the rows that could not be imported."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.imports.job import Fault, Import, ImportNotFound, first_and_last_maker

LAST_ID: Final = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class FaultyRow:
    line: int
    cells: list[str]
    fault: Fault


async def find(tx: Tx, organization_id: UUID, import_id: UUID) -> Import:
    found = await tx.one(Import, FIND, organization_id, import_id)
    if found is None:
        raise ImportNotFound
    return found


async def of_event(
    tx: Tx, organization_id: UUID, event_id: UUID, *, before: UUID | None = None, limit: int
) -> list[Import]:
    """Imports of an event, newest first."""
    return await tx.all(Import, OF_EVENT, organization_id, event_id, before or LAST_ID, limit)


async def maker_of(tx: Tx, organization_id: UUID, made_id: UUID) -> Import | None:
    """The import that made this ticket or card, if one did."""
    return await tx.one(Import, MAKER, organization_id, *first_and_last_maker(made_id))


async def faulty_rows(tx: Tx, organization_id: UUID, import_id: UUID, *, after: int = 0, limit: int) -> list[FaultyRow]:
    """Rows that could not be imported, in the file's order."""
    return await tx.all(FaultyRow, FAULTY, organization_id, import_id, after, limit)


async def first_rows(tx: Tx, organization_id: UUID, import_id: UUID, *, limit: int) -> list[list[str]]:
    """The first cells, to see what the columns hold."""
    return [row["cells"] for row in await tx.rows(FIRST_ROWS, organization_id, import_id, limit)]


FIND: Final = """
    SELECT organization_id, id, event_id, file_name, state, problem, header, columns, category_id, round, row_count,
           last_line, reached, faulty, tickets_made, cards_made, tickets_removed, tickets_kept, created_at, created_by,
           ended_at
      FROM import
     WHERE organization_id = $1
       AND id = $2
"""

OF_EVENT: Final = """
    SELECT organization_id, id, event_id, file_name, state, problem, header, columns, category_id, round, row_count,
           last_line, reached, faulty, tickets_made, cards_made, tickets_removed, tickets_kept, created_at, created_by,
           ended_at
      FROM import
     WHERE organization_id = $1
       AND event_id = $2
       AND id < $3
     ORDER BY id DESC
     LIMIT $4
"""

MAKER: Final = """
    SELECT organization_id, id, event_id, file_name, state, problem, header, columns, category_id, round, row_count,
           last_line, reached, faulty, tickets_made, cards_made, tickets_removed, tickets_kept, created_at, created_by,
           ended_at
      FROM import
     WHERE organization_id = $1
       AND id >= $2
       AND id <= $3
     LIMIT 1
"""

FAULTY: Final = """
    SELECT line, cells, fault
      FROM import_row
     WHERE organization_id = $1
       AND import_id = $2
       AND fault IS NOT NULL
       AND line > $3
     ORDER BY line
     LIMIT $4
"""

FIRST_ROWS: Final = """
    SELECT cells
      FROM import_row
     WHERE organization_id = $1
       AND import_id = $2
     ORDER BY line
     LIMIT $3
"""
