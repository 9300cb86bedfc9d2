"""What has come since a snapshot: every scan once, by what was visible and not by what the clock says.

A scan's time is taken before its transaction commits, so "later than the last one" would pass over those that commit
late. Here a row is fresh if the transaction that wrote it was not visible in the last snapshot; time only says how far
back to look for it (`horizon.py`). Scans are written outside of subtransactions, which snapshots do not list, and are
never changed. They move only when a partition is made, and then `pieces` changes. A standby's snapshots are of
another kind: read from the primary.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode


@dataclass(frozen=True, slots=True)
class Category:
    """`expected`: tickets in use. `capacity`: as many as there may ever be."""

    id: UUID
    name: str
    tier: str
    capacity: int
    expected: int


@dataclass(frozen=True, slots=True)
class Came:
    """Scans alike. `place` is the category of the ticket that was activated, in the sandbox the ticket."""

    verdict: str
    gate: str | None
    scanner_id: str | None
    place: UUID | None
    minute: datetime
    scans: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Fresh:
    """What came. `undone`: an activation was taken back, or its ticket cancelled, so that adding is not enough."""

    snapshot: str
    pieces: int
    status: str | None
    undone: bool
    categories: list[Category]
    came: list[Came]


async def hold_still(tx: Tx) -> None:
    """Let all statements of this transaction see one snapshot. Before anything else in it."""
    await tx.run(HOLD_STILL)
    await tx.run(WITHOUT_COMPILING)


async def fresh(tx: Tx, organization_id: UUID, mode: Mode, event_id: UUID, *, seen: str, since: datetime) -> Fresh:
    """The scans of an event that were not visible in the snapshot `seen`, and its categories as they are now."""
    row = (await tx.rows(FRESH, organization_id, mode, event_id, seen, since))[0]
    return Fresh(
        snapshot=row["snapshot"],
        pieces=row["pieces"],
        status=row["status"],
        undone=row["undone"],
        categories=msgspec.json.decode(row["categories"], type=list[Category]),
        came=msgspec.json.decode(row["came"], type=list[Came]),
    )


HOLD_STILL: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

# PostgreSQL would compile a count of a large event for longer than the count takes.
WITHOUT_COMPILING: Final = "SET LOCAL jit = off"

# A row has the lower half of its transaction's number, which comes round again. Ages are counted from the present and
# do not: so the whole number is that of the snapshot's oldest, and as much more as the row is younger.
# The first comparison of ages is cheap and leaves out nearly all that was seen.
FRESH: Final = """
    WITH seen AS (
        SELECT $4::text::pg_snapshot AS snapshot,
               pg_snapshot_xmin($4::text::pg_snapshot)::text::bigint AS oldest,
               age(pg_snapshot_xmin($4::text::pg_snapshot)::xid) AS oldest_age
    ),
    came AS (
        SELECT s.verdict, s.gate, s.scanner_id, coalesce(t.category_id, s.ticket_id) AS place,
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
           (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = 'scan'::regclass)::integer AS pieces,
           (SELECT e.status FROM event e WHERE e.organization_id = $1 AND e.id = $3) AS status,
           EXISTS (SELECT
                     FROM change c
                     JOIN ticket t ON t.organization_id = c.organization_id
                                  AND t.id = c.subject_id
                                  AND t.event_id = $3
                    WHERE c.organization_id = $1
                      AND c.at >= $5
                      AND c.subject = 'ticket'
                      AND c.was = 'activated'
                      AND age(c.xmin) <= (SELECT oldest_age FROM seen)
                      AND NOT pg_visible_in_snapshot(
                              ((SELECT oldest + oldest_age FROM seen) - age(c.xmin))::text::xid8,
                              (SELECT snapshot FROM seen))) AS undone,
           (SELECT coalesce(json_agg(x), '[]')
              FROM (SELECT k.id, k.name, k.tier, k.quantity_total AS capacity, k.quantity_sold AS expected
                      FROM ticket_category k
                     WHERE k.organization_id = $1
                       AND k.event_id = $3
                       AND (k.removed_at IS NULL OR k.quantity_sold > 0)
                     ORDER BY k.id) x)::text AS categories,
           (SELECT coalesce(json_agg(x), '[]') FROM came x)::text AS came
"""
