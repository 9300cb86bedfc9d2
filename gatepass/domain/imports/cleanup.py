"""Clean-up: rows of a file, which may name people, are deleted as soon as nothing needs them."""

from datetime import datetime, timedelta
from typing import Final

from gatepass.base.database import Tx

# An upload without progress for this long has been interrupted.
BROKEN_OFF_AFTER: Final = timedelta(hours=1)
# A file is discarded after this long without progress.
FORGOTTEN_AFTER: Final = timedelta(days=7)
# Faulty rows can be downloaded for this long.
FAULTY_ROWS_KEPT: Final = timedelta(days=30)
BATCH: Final = 5_000


async def sweep_some(tx: Tx, *, at: datetime) -> int:
    """Delete a batch of rows of one ended import, in any organization; return how many, 0 if nothing is left."""
    await tx.run(GIVE_UP, at - BROKEN_OFF_AFTER, at - FORGOTTEN_AFTER, at)
    found = await tx.rows(NEXT, at - FAULTY_ROWS_KEPT)
    if not found:
        return 0
    organization_id, import_id, is_over = found[0]
    gone = await tx.run(SWEEP_KEYS, organization_id, import_id, BATCH)
    if is_over:
        gone += await tx.run(SWEEP_ROWS, organization_id, import_id, BATCH)
    if is_over and not gone:
        await tx.run(SWEPT, organization_id, import_id, at)
    return gone or 1


GIVE_UP: Final = """
    -- every organization: maintenance ends abandoned imports of all of them
    UPDATE import
       SET state = CASE state WHEN 'receiving' THEN 'refused' ELSE 'discarded' END,
           problem = CASE state WHEN 'receiving' THEN 'The upload broke off.' ELSE problem END,
           ended_at = $3
     WHERE swept_at IS NULL
       AND (state = 'receiving' AND advanced_at < $1 OR state IN ('mapping', 'checked') AND advanced_at < $2)
"""

# Keys that detect duplicates in a file are not needed once it is applied; faulty rows are kept for FAULTY_ROWS_KEPT.
NEXT: Final = """
    -- every organization: maintenance cleans up after all of them
    SELECT i.organization_id, i.id, i.state IN ('refused', 'discarded') OR i.ended_at < $1 AS is_over
      FROM import i
     WHERE i.swept_at IS NULL
       AND i.state IN ('refused', 'discarded', 'done', 'undone')
       AND (i.state IN ('refused', 'discarded')
            OR i.ended_at < $1
            OR EXISTS (SELECT FROM import_key k WHERE k.organization_id = i.organization_id AND k.import_id = i.id))
     ORDER BY i.advanced_at
     LIMIT 1
       FOR NO KEY UPDATE OF i SKIP LOCKED
"""

SWEEP_ROWS: Final = """
    DELETE FROM import_row
     WHERE organization_id = $1
       AND import_id = $2
       AND line IN (SELECT r.line
                      FROM import_row r
                     WHERE r.organization_id = $1
                       AND r.import_id = $2
                     ORDER BY r.line
                     LIMIT $3)
"""

SWEEP_KEYS: Final = """
    DELETE FROM import_key
     WHERE organization_id = $1
       AND import_id = $2
       AND (round, kind, value) IN (SELECT k.round, k.kind, k.value
                                      FROM import_key k
                                     WHERE k.organization_id = $1
                                       AND k.import_id = $2
                                     LIMIT $3)
"""

SWEPT: Final = """
    UPDATE import
       SET swept_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
