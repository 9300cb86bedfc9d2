"""Reading imports: one by its id, those of an event, and faulty rows."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.imports.job import COLUMNS, Fault, Import, ImportNotFound, first_and_last_maker

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
    """Faulty rows, in file order."""
    return await tx.all(FaultyRow, FAULTY, organization_id, import_id, after, limit)


async def first_rows(tx: Tx, organization_id: UUID, import_id: UUID, *, limit: int) -> list[list[str]]:
    """The cells of the first rows, as a preview of the columns."""
    return [row["cells"] for row in await tx.rows(FIRST_ROWS, organization_id, import_id, limit)]


FIND: Final = "SELECT " + COLUMNS + """
      FROM import
     WHERE organization_id = $1
       AND id = $2
"""  # fmt: skip

OF_EVENT: Final = "SELECT " + COLUMNS + """
      FROM import
     WHERE organization_id = $1
       AND event_id = $2
       AND id < $3
     ORDER BY id DESC
     LIMIT $4
"""  # fmt: skip

MAKER: Final = "SELECT " + COLUMNS + """
      FROM import
     WHERE organization_id = $1
       AND id >= $2
       AND id <= $3
     LIMIT 1
"""  # fmt: skip

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
