"""Counting an event's door from the tables, all of it, in one statement and so in one snapshot."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode

# What the chart shows, and the minute that is under way.
CHART: Final = timedelta(minutes=60)
# A scanner that was used longer ago has gone home.
ON_DUTY: Final = timedelta(hours=12)
# More scanners than the largest stadium has; who makes names up sees the latest of them.
MOST_SCANNERS: Final = 1_000
# Gates are words that callers choose. Past so many groups the smaller ones are one.
MOST_GROUPS: Final = 2_000
REST: Final = "other gates"


@dataclass(frozen=True, slots=True)
class TicketsAlike:
    """Tickets in use of one category; those that are activated, by the gate."""

    category_id: UUID
    gate: str | None
    activated: int
    expected: int


@dataclass(frozen=True, slots=True)
class ScansAlike:
    """`place` is the ticket in the sandbox, where no table has it."""

    verdict: str
    gate: str | None
    place: UUID | None
    scans: int


@dataclass(frozen=True, slots=True)
class ScansOfMinute:
    minute: datetime
    activated: int
    denied: int


@dataclass(frozen=True, slots=True)
class ScannerSeen:
    scanner_id: str
    gate: str | None
    last_at: datetime
    scans: int


@dataclass(frozen=True, slots=True)
class Count:
    """What the tables hold in one snapshot. `pieces` changes when rows of `scan` may have moved."""

    snapshot: str
    pieces: int
    tickets: list[TicketsAlike]
    scans: list[ScansAlike]
    minutes: list[ScansOfMinute]
    scanners: list[ScannerSeen]


async def count(tx: Tx, organization_id: UUID, mode: Mode, event_id: UUID, *, since: datetime, at: datetime) -> Count:
    """Count the event's tickets, and its scans from `since` on."""
    # One row, always: it has no FROM.
    row = (
        await tx.rows(
            COUNT, organization_id, mode, event_id, since, at - CHART, at - ON_DUTY, MOST_SCANNERS, MOST_GROUPS, REST
        )
    )[0]
    return Count(
        snapshot=row["snapshot"],
        pieces=row["pieces"],
        tickets=msgspec.json.decode(row["tickets"], type=list[TicketsAlike]),
        scans=msgspec.json.decode(row["scans"], type=list[ScansAlike]),
        minutes=msgspec.json.decode(row["minutes"], type=list[ScansOfMinute]),
        scanners=msgspec.json.decode(row["scanners"], type=list[ScannerSeen]),
    )


# In the sandbox there are no tickets: nothing of the organization has the sandbox's event.
COUNT: Final = """
    SELECT pg_current_snapshot()::text AS snapshot,
           (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = 'scan'::regclass)::integer AS pieces,
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
              FROM (SELECT y.verdict, CASE WHEN y.n <= $8 THEN y.gate ELSE $9 END AS gate, y.place,
                           sum(y.scans) AS scans
                      FROM (SELECT s.verdict, s.gate, CASE WHEN s.mode = 'sandbox' THEN s.ticket_id END AS place,
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
