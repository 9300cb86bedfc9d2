"""Reading exports: one by its id, and the newest of an event."""

from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.card_exports.job import COLUMNS, CardExport, ExportNotFound


async def find(tx: Tx, organization_id: UUID, export_id: UUID) -> CardExport:
    found = await tx.one(CardExport, FIND, organization_id, export_id)
    if found is None:
        raise ExportNotFound
    return found


async def of_event(tx: Tx, organization_id: UUID, event_id: UUID, *, limit: int) -> list[CardExport]:
    """Newest first."""
    return await tx.all(CardExport, OF_EVENT, organization_id, event_id, limit)


FIND: Final = "SELECT " + COLUMNS + """
      FROM card_export
     WHERE organization_id = $1
       AND id = $2
"""  # fmt: skip

OF_EVENT: Final = "SELECT " + COLUMNS + """
      FROM card_export
     WHERE organization_id = $1
       AND event_id = $2
     ORDER BY id DESC
     LIMIT $3
"""  # fmt: skip
