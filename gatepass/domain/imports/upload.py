"""Taking a file in: its rows are put aside as they come, some thousand a transaction, and are never all in memory."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import id_of, new_id
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes
from gatepass.domain.events import EventNotFound, EventStatus
from gatepass.domain.imports.job import FileRefused, ImportState
from gatepass.domain.imports.reading import Row

TAKES_TICKETS: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED})


async def begin(
    tx: Tx, organization_id: UUID, event_id: UUID, upload_key: UUID, file_name: str, *, by: str, at: datetime
) -> tuple[UUID, bool]:
    """The import that this upload is, and whether it is new: one form makes one import, however often it is sent."""
    status = await tx.value(EVENT_STATUS, organization_id, event_id)
    if status is None:
        raise EventNotFound
    if EventStatus(status) not in TAKES_TICKETS:
        raise NotAllowedFromHere(f"An event that is {status} takes no more tickets.")
    import_id = new_id()
    if await tx.run(BEGIN, organization_id, import_id, event_id, upload_key, file_name[:200] or "file.csv", at, by):
        await changes.note(tx, organization_id, "import", import_id, "begun", by=by, at=at, becomes=file_name[:200])
        return import_id, True
    return await tx.value(BY_UPLOAD_KEY, organization_id, upload_key), False


async def stage(tx: Tx, organization_id: UUID, import_id: UUID, rows: Sequence[Row], *, at: datetime) -> None:
    """Put rows aside as they came."""
    await tx.copy(
        "import_row",
        ("organization_id", "import_id", "line", "cells", "fault"),
        [(organization_id, import_id, row.line, row.cells, row.fault) for row in rows],
    )
    if not await tx.run(STAGED, organization_id, import_id, len(rows), rows[-1].line, at):
        raise FileRefused("The import was given up meanwhile.")


async def received(tx: Tx, organization_id: UUID, import_id: UUID, header: Sequence[str], *, at: datetime) -> None:
    """The whole file is here; next its columns are named."""
    if not await tx.run(RECEIVED, organization_id, import_id, list(header), header_key(header), at):
        raise FileRefused("The import was given up meanwhile.")


async def refuse(tx: Tx, organization_id: UUID, import_id: UUID, problem: str, *, at: datetime) -> None:
    """The file is not to be had. What was put aside is swept away later."""
    await tx.run(REFUSE, organization_id, import_id, problem, at)


async def discard(tx: Tx, organization_id: UUID, import_id: UUID, *, by: str, at: datetime) -> None:
    """Give an import up before anything was made of it."""
    was = await tx.value(DISCARD, organization_id, import_id, at)
    if was is None:
        raise NotAllowedFromHere("Only an import that has made nothing yet can be given up.")
    await changes.note(
        tx, organization_id, "import", import_id, "discarded", by=by, at=at, becomes=ImportState.DISCARDED
    )


def header_key(header: Sequence[str]) -> UUID:
    """Files with the same column names have the same one."""
    return id_of(hashlib.sha256("\0".join(name.casefold() for name in header).encode()).digest()[:16])


EVENT_STATUS: Final = """
    SELECT status
      FROM event
     WHERE organization_id = $1
       AND id = $2
"""

BEGIN: Final = """
    INSERT INTO import (organization_id, id, event_id, upload_key, file_name, created_at, advanced_at, created_by)
    VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
    ON CONFLICT (organization_id, upload_key) DO NOTHING
"""

BY_UPLOAD_KEY: Final = """
    SELECT id
      FROM import
     WHERE organization_id = $1
       AND upload_key = $2
"""

STAGED: Final = """
    UPDATE import
       SET row_count = row_count + $3, last_line = $4, advanced_at = $5
     WHERE organization_id = $1
       AND id = $2
       AND state = 'receiving'
"""

RECEIVED: Final = """
    UPDATE import
       SET state = 'mapping', header = $3, header_key = $4, advanced_at = $5
     WHERE organization_id = $1
       AND id = $2
       AND state = 'receiving'
"""

REFUSE: Final = """
    UPDATE import
       SET state = 'refused', problem = $3, advanced_at = $4, ended_at = $4
     WHERE organization_id = $1
       AND id = $2
       AND state = 'receiving'
"""

DISCARD: Final = """
    UPDATE import
       SET state = 'discarded', advanced_at = $3, ended_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND state IN ('receiving', 'mapping', 'checking', 'checked')
    RETURNING state
"""
