"""Clean-up: a file is deleted when its day is over. Its row stays, for the list of the event."""

from datetime import datetime
from typing import Final

from gatepass.base.database import Tx
from gatepass.domain.card_exports.file_parts import delete_parts


async def sweep_some(tx: Tx, *, at: datetime) -> int:
    """Delete one expired file, in any organization; return 0 if there is none."""
    found = await tx.rows(NEXT, at)
    if not found:
        return 0
    organization_id, export_id = found[0]
    await delete_parts(tx, organization_id, export_id)
    await tx.run(MARK, organization_id, export_id)
    return 1


NEXT: Final = """
    -- every organization: maintenance deletes expired files of all of them
    SELECT organization_id, id
      FROM card_export
     WHERE state = 'ready'
       AND expires_at <= $1
     ORDER BY expires_at
     LIMIT 1
       FOR NO KEY UPDATE SKIP LOCKED
"""

MARK: Final = """
    UPDATE card_export
       SET state = 'deleted', ticket_ids = NULL
     WHERE organization_id = $1
       AND id = $2
"""
