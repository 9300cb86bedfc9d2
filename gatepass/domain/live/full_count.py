"""The full count of an event from the tables: one statement, and so one snapshot."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode

# The chart shows these minutes, the current one included.
CHART: Final = timedelta(minutes=60)
# A scanner without a scan for longer is not in use.
ON_DUTY: Final = timedelta(hours=12)
# More scanners than the largest stadium has. If a caller sends more names, the latest are shown.
MOST_SCANNERS: Final = 1_000
# Callers choose the names of gates. Groups past this number, the smallest, are counted as one.
MOST_GROUPS: Final = 2_000
REST: Final = "other gates"


@dataclass(frozen=True, slots=True)
class TicketGroup:
    """Tickets in use of one category; the activated ones, by gate."""

    category_id: UUID
    gate: str | None
    activated: int
    expected: int


@dataclass(frozen=True, slots=True)
class ScanGroup:
    """`ticket_id` is set in the sandbox only, whose tickets are in no table."""

    verdict: str
    gate: str | None
    ticket_id: UUID | None
    scans: int


@dataclass(frozen=True, slots=True)
class MinuteCount:
    minute: datetime
    activated: int
    denied: int


@dataclass(frozen=True, slots=True)
class ScannerCount:
    scanner_id: str
    gate: str | None
    last_at: datetime
    scans: int


@dataclass(frozen=True, slots=True)
class FullCount:
    """The counts of one snapshot. `partitions` changes when rows of `scan` may have moved."""

    snapshot: str
    partitions: int
    tickets: list[TicketGroup]
    scans: list[ScanGroup]
    minutes: list[MinuteCount]
    scanners: list[ScannerCount]


async def count(
    tx: Tx, organization_id: UUID, mode: Mode, event_id: UUID, *, since: datetime, at: datetime
) -> FullCount:
    """Count the event's tickets, and its scans from `since` on."""
    # Always one row: the statement has no FROM.
    row = (
        await tx.rows(
            COUNT, organization_id, mode, event_id, since, at - CHART, at - ON_DUTY, MOST_SCANNERS, MOST_GROUPS, REST
        )
    )[0]
    return FullCount(
        snapshot=row["snapshot"],
        partitions=row["partitions"],
        tickets=msgspec.json.decode(row["tickets"], type=list[TicketGroup]),
        scans=msgspec.json.decode(row["scans"], type=list[ScanGroup]),
        minutes=msgspec.json.decode(row["minutes"], type=list[MinuteCount]),
        scanners=msgspec.json.decode(row["scanners"], type=list[ScannerCount]),
    )


# In the sandbox there are no tickets: no row of the organization has the sandbox's event.
COUNT: Final = """
    SELECT pg_current_snapshot()::text AS snapshot,
           (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = 'scan'::regclass)::integer AS partitions,
           (SELECT coalesce(json_agg(x), '[]')
              FROM (SELECT y.category_id, CASE WHEN y.n <= $8 THEN y.gate ELSE $9 END AS gate,
                           sum(y.activated) AS activated, sum(y.expected) AS expected
                      FROM (SELECT t.category_id, t.activated_gate AS gate,
                                   count(t.activated_at) AS activated, count(*) AS expected,
                                   row_number() OVER (ORDER BY count(*) DESC) AS n
                              FROM ticket t
                             WHERE t.organization_id = $1
                               AND t.event_id = $3
                               AND t.cancelled_at IS NULL
                             GROUP BY 1, 2) y
                     GROUP BY 1, 2) x)::text AS tickets,
           (SELECT coalesce(json_agg(x), '[]')
              FROM (SELECT y.verdict, CASE WHEN y.n <= $8 THEN y.gate ELSE $9 END AS gate, y.ticket_id,
                           sum(y.scans) AS scans
                      FROM (SELECT s.verdict, s.gate, CASE WHEN s.mode = 'sandbox' THEN s.ticket_id END AS ticket_id,
                                   count(*) AS scans, row_number() OVER (ORDER BY count(*) DESC) AS n
                              FROM scan s
                             WHERE s.organization_id = $1
                               AND s.event_id = $3
                               AND s.mode = $2
                               AND s.at >= $4
                             GROUP BY 1, 2, 3) y
                     GROUP BY 1, 2, 3) x)::text AS scans,
           (SELECT coalesce(json_agg(x), '[]')
              FROM (SELECT date_trunc('minute', s.at) AS minute,
                           count(*) FILTER (WHERE s.verdict = 'activated') AS activated,
                           count(*) FILTER (WHERE s.verdict <> 'activated') AS denied
                      FROM scan s
                     WHERE s.organization_id = $1
                       AND s.event_id = $3
                       AND s.mode = $2
                       AND s.at >= date_trunc('minute', greatest($4, $5))
                     GROUP BY 1) x)::text AS minutes,
           (SELECT coalesce(json_agg(x), '[]')
              FROM (SELECT s.scanner_id, s.gate, max(s.at) AS last_at, count(*) AS scans
                      FROM scan s
                     WHERE s.organization_id = $1
                       AND s.event_id = $3
                       AND s.mode = $2
                       AND s.at >= greatest($4, $6)
                       AND s.scanner_id IS NOT NULL
                     GROUP BY 1, 2
                     ORDER BY 3 DESC
                     LIMIT $7) x)::text AS scanners
"""
