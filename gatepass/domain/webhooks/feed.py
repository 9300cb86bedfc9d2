"""The feed: every message of an organization, in order, for clients that poll.

Messages are ordered by the id of the transaction that wrote them, and a page contains only messages of transactions
that are older than any running one. So a message that commits late is never skipped.

A cursor names a message, never a transaction id alone: after a failover or a restore, PostgreSQL gives out ids again
that never reached the new server. If the message of a cursor is gone, the feed goes on by its time, and repeats some.

What the feed tells survives the server. A commit whose wait for a standby is broken off can be seen and still be lost,
so each page is followed by a commit, which waits for everything before it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import moment_of
from gatepass.domain.keys import Mode

# After the last read, messages are written for this long even if no endpoint subscribes to them.
OPEN_FOR: Final = timedelta(days=30)
# Reading the feed writes at most once in this time.
RENEWED_EVERY: Final = timedelta(days=1)
# How far the clocks of two servers may be apart, when the feed goes on by time.
SKEW: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class FeedCursor:
    """A position in the feed, after the last message that was read. START is before all of them."""

    txid: int
    id: UUID


START: Final = FeedCursor(0, UUID(int=0))


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A page of the feed: bodies, whether there are more now, and the cursor for the next page."""

    bodies: list[bytes]
    has_more: bool
    cursor: FeedCursor


async def open_feed(tx: Tx, organization_id: UUID, mode: Mode, *, at: datetime) -> None:
    """Write all messages from now on, because a client reads the feed."""
    if not await tx.value(IS_OPEN, organization_id, mode, at + OPEN_FOR - RENEWED_EVERY):
        await tx.run(OPEN, organization_id, mode, at + OPEN_FOR)


async def read_feed(tx: Tx, organization_id: UUID, mode: Mode, *, after: FeedCursor | None, limit: int) -> FeedPage:
    """The messages after the cursor, oldest first; without a cursor, from the oldest that is kept.

    Each statement has to be a transaction of its own.
    """
    # Read before the page: transactions that have finished by now are visible to the next statement.
    finished = int(await tx.value(FINISHED))
    after = after or START
    begin = await _valid(tx, organization_id, mode, after, finished)
    rows = await tx.rows(PAGE, organization_id, mode, begin.txid, begin.id, finished, limit + 1)
    page = rows[:limit]
    if page:
        await tx.wait_for_standby()
    cursor = FeedCursor(page[-1]["txid"], page[-1]["id"]) if page else after
    return FeedPage([row["body"] for row in page], len(rows) > limit, cursor)


async def _valid(tx: Tx, organization_id: UUID, mode: Mode, cursor: FeedCursor, finished: int) -> FeedCursor:
    """The cursor, if its message is there, else the first message of its time."""
    if cursor.id == START.id:  # version 0.1 gave out cursors without a message
        return cursor if cursor.txid <= finished else START
    if await tx.value(IS_THERE, organization_id, mode, cursor.txid, cursor.id):
        return cursor
    made = moment_of(cursor.id)
    if made is None:
        return START
    first = await tx.value(FIRST_SINCE, organization_id, mode, made - SKEW)
    return cursor if first is None else FeedCursor(first - 1, START.id)


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

IS_THERE: Final = """
    SELECT true
      FROM webhook_event
     WHERE organization_id = $1
       AND mode = $2
       AND txid = $3
       AND id = $4
"""

FIRST_SINCE: Final = """
    SELECT txid
      FROM webhook_event
     WHERE organization_id = $1
       AND mode = $2
       AND at >= $3
     ORDER BY txid
     LIMIT 1
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
