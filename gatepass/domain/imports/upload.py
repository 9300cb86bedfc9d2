"""Upload: rows are staged while the file arrives, a few thousand in a transaction, and are never all in memory."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import id_of, new_id
from gatepass.domain import audit_log
from gatepass.domain.events import EventNotFound, EventStatus
from gatepass.domain.imports.csv_reader import CsvRow
from gatepass.domain.imports.job import FileRefused, ImportState
from gatepass.domain.imports.text_decoder import UTF_8

TAKES_TICKETS: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED})


async def begin(
    tx: Tx, organization_id: UUID, event_id: UUID, upload_key: UUID, file_name: str, *, by: str, at: datetime
) -> tuple[UUID, bool]:
    """The id of the import of this upload, and whether it is new: a form that is sent twice makes one import."""
    status = await tx.value(EVENT_STATUS, organization_id, event_id)
    if status is None:
        raise EventNotFound
    if EventStatus(status) not in TAKES_TICKETS:
        raise NotAllowedFromHere(f"An event that is {status} takes no more tickets.")
    import_id = new_id()
    if await tx.run(BEGIN, organization_id, import_id, event_id, upload_key, file_name[:200] or "file.csv", at, by):
        await audit_log.record(tx, organization_id, "import", import_id, "begun", by=by, at=at, becomes=file_name[:200])
        return import_id, True
    return await tx.value(BY_UPLOAD_KEY, organization_id, upload_key), False


async def stage(tx: Tx, organization_id: UUID, import_id: UUID, rows: Sequence[CsvRow], *, at: datetime) -> None:
    """Store rows as they are in the file."""
    await tx.copy(
        "import_row",
        ("organization_id", "import_id", "line", "cells", "fault"),
        [(organization_id, import_id, row.line, row.cells, row.fault) for row in rows],
    )
    if not await tx.run(STAGED, organization_id, import_id, len(rows), rows[-1].line, at):
        raise FileRefused("The import was given up meanwhile.")


async def received(
    tx: Tx, organization_id: UUID, import_id: UUID, header: Sequence[str], *, encoding: str = UTF_8, at: datetime
) -> None:
    """End the upload; next the columns are named."""
    if not await tx.run(RECEIVED, organization_id, import_id, list(header), header_key(header), at, encoding):
        raise FileRefused("The import was given up meanwhile.")


async def refuse(tx: Tx, organization_id: UUID, import_id: UUID, problem: str, *, at: datetime) -> None:
    """End the upload of a file that cannot be imported. Its rows are deleted later."""
    await tx.run(REFUSE, organization_id, import_id, problem, at)


async def discard(tx: Tx, organization_id: UUID, import_id: UUID, *, by: str, at: datetime) -> None:
    """Discard an import that has made nothing yet."""
    was = await tx.value(DISCARD, organization_id, import_id, at)
    if was is None:
        raise NotAllowedFromHere("Only an import that has made nothing yet can be given up.")
    await audit_log.record(
        tx, organization_id, "import", import_id, "discarded", by=by, at=at, becomes=ImportState.DISCARDED
    )


def header_key(header: Sequence[str]) -> UUID:
    """The same for all files with the same column names."""
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
       SET state = 'mapping', header = $3, header_key = $4, advanced_at = $5, encoding = $6
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
