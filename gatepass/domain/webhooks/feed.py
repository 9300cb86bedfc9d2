"""The feed: every message of an organization, in order, for whoever would rather ask than be told.

Messages are numbered by the transaction that wrote them, and a page holds only what was written by transactions that
are older than any that still runs. So nothing that commits late is ever passed over.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode

# For so long after the last reading messages are kept although no endpoint asks for them.
OPEN_FOR: Final = timedelta(days=30)
# So that reading writes once a day at most.
NOTED_EVERY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the feed: what comes after it has not been read."""

    txid: int
    id: UUID


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some of the feed: the bodies, whether there are more now, and the mark to go on from."""

    bodies: list[bytes]
    has_more: bool
    mark: Mark


async def open_feed(tx: Tx, organization_id: UUID, mode: Mode, *, at: datetime) -> None:
    """Somebody reads: keep messages for them from now on."""
    if not await tx.value(IS_OPEN, organization_id, mode, at + OPEN_FOR - NOTED_EVERY):
        await tx.run(OPEN, organization_id, mode, at + OPEN_FOR)


async def read_feed(tx: Tx, organization_id: UUID, mode: Mode, *, after: Mark | None, limit: int) -> Stretch:
    """What comes after the mark, oldest first; without a mark, from the oldest that is kept."""
    # Before the page: whoever has finished by now is seen by the next statement.
    finished = int(await tx.value(FINISHED))
    begin = after or Mark(0, UUID(int=0))
    rows = await tx.rows(PAGE, organization_id, mode, begin.txid, begin.id, finished, limit + 1)
    page = rows[:limit]
    mark = Mark(page[-1]["txid"], page[-1]["id"]) if page else Mark(finished, UUID(int=0))
    return Stretch([row["body"] for row in page], len(rows) > limit, mark)


IS_OPEN: Final = """
    SELECT true
      FROM webhook_feed
     WHERE organization_id = $1
       AND mode = $2
       AND open_until >= $3
"""

OPEN: Final = """
    INSERT INTO webhook_feed (organization_id, mode, open_until)
    VALUES ($1, $2, $3)
    ON CONFLICT (organization_id, mode) DO UPDATE SET open_until = excluded.open_until
"""

FINISHED: Final = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"

PAGE: Final = """
    SELECT txid, id, body
      FROM webhook_event
     WHERE organization_id = $1
       AND mode = $2
       AND (txid, id) > ($3, $4)
       AND txid < $5
     ORDER BY txid, id
     LIMIT $6
"""
