"""Deltas: the scans since a snapshot, each exactly once, selected by visibility and not by time.

A scan gets its time before its transaction commits, so "later than the last one" would miss those that commit late.
Here a row is new if the transaction that wrote it was not visible in the last snapshot; time only limits how far back
to look for it (`lookback.py`). Scans are written outside of subtransactions, which snapshots do not list, and are never
updated. They move only when a partition is made, and then `partitions` changes. An entry of the audit log has the id of
its outermost transaction instead. Read from the primary: a standby's snapshots are of another kind.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode


@dataclass(frozen=True, slots=True)
class LiveCategory:
    """`expected` is the number of tickets in use, `capacity` the most that there may be."""

    id: UUID
    name: str
    tier: str
    capacity: int
    expected: int


@dataclass(frozen=True, slots=True)
class ScanDelta:
    """Equal scans of one minute. The id is the category of the activated ticket; in the sandbox, the ticket."""

    verdict: str
    gate: str | None
    scanner_id: str | None
    category_or_ticket_id: UUID | None
    minute: datetime
    scans: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Deltas:
    """New scans. `undone`: an activation was undone, or its ticket cancelled, so that adding is not enough."""

    snapshot: str
    partitions: int
    status: str | None
    undone: bool
    categories: list[LiveCategory]
    scans: list[ScanDelta]


async def repeatable_read(tx: Tx) -> None:
    """Give all statements of this transaction one snapshot. Call it before any other statement."""
    await tx.run(REPEATABLE_READ)
    await tx.run(WITHOUT_JIT)


async def read_deltas(
    tx: Tx, organization_id: UUID, mode: Mode, event_id: UUID, *, seen: str, since: datetime
) -> Deltas:
    """The scans of an event that were not visible in the snapshot `seen`, and its categories as they are now."""
    row = (await tx.rows(DELTAS, organization_id, mode, event_id, seen, since))[0]
    return Deltas(
        snapshot=row["snapshot"],
        partitions=row["partitions"],
        status=row["status"],
        undone=row["undone"],
        categories=msgspec.json.decode(row["categories"], type=list[LiveCategory]),
        scans=msgspec.json.decode(row["scans"], type=list[ScanDelta]),
    )


REPEATABLE_READ: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

# Compiling the count of a large event would take longer than the count.
WITHOUT_JIT: Final = "SET LOCAL jit = off"

# `xmin` of a row is the lower half of a 64-bit transaction id, and wraps around. Ages are counted from the present and
# do not: so the full id is that of the snapshot's oldest transaction, plus the difference of the two ages.
# The first comparison of ages is cheap and excludes nearly all rows that were visible.
DELTAS: Final = """
    WITH seen AS (
        SELECT $4::text::pg_snapshot AS snapshot,
               pg_snapshot_xmin($4::text::pg_snapshot)::text::bigint AS oldest,
               age(pg_snapshot_xmin($4::text::pg_snapshot)::xid) AS oldest_age
    ),
    delta AS (
        SELECT s.verdict, s.gate, s.scanner_id, coalesce(t.category_id, s.ticket_id) AS category_or_ticket_id,
               date_trunc('minute', s.at) AS minute, count(*) AS scans, max(s.at) AS last_at
          FROM scan s
          LEFT JOIN LATERAL (SELECT x.category_id
                               FROM ticket x
                              WHERE x.organization_id = s.organization_id
                                AND x.id = s.ticket_id
                             OFFSET 0) t ON s.verdict = 'activated'
         WHERE s.organization_id = $1
           AND s.event_id = $3
           AND s.mode = $2
           AND s.at >= $5
           AND age(s.xmin) <= (SELECT oldest_age FROM seen)
           AND NOT pg_visible_in_snapshot(
                   ((SELECT oldest + oldest_age FROM seen) - age(s.xmin))::text::xid8, (SELECT snapshot FROM seen))
         GROUP BY 1, 2, 3, 4, 5
    )
    SELECT pg_current_snapshot()::text AS snapshot,
           (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = 'scan'::regclass)::integer AS partitions,
           (SELECT e.status FROM event e WHERE e.organization_id = $1 AND e.id = $3) AS status,
           EXISTS (SELECT
                     FROM audit_log c
                     JOIN ticket t ON t.organization_id = c.organization_id
                                  AND t.id = c.subject_id
                                  AND t.event_id = $3
                    WHERE c.organization_id = $1
                      AND c.at >= $5
                      AND c.subject = 'ticket'
                      AND c.was = 'activated'
                      AND c.transaction >= (SELECT pg_snapshot_xmin(snapshot) FROM seen)
                      AND NOT pg_visible_in_snapshot(c.transaction, (SELECT snapshot FROM seen))) AS undone,
           (SELECT coalesce(json_agg(x), '[]')
              FROM (SELECT k.id, k.name, k.tier, k.quantity_total AS capacity, k.quantity_sold AS expected
                      FROM ticket_category k
                     WHERE k.organization_id = $1
                       AND k.event_id = $3
                       AND (k.removed_at IS NULL OR k.quantity_sold > 0)
                     ORDER BY k.id) x)::text AS categories,
           (SELECT coalesce(json_agg(x), '[]') FROM delta x)::text AS scans
"""
