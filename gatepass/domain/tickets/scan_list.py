"""Every scan with its verdict: newest first, or on from a scan that the caller has seen.

No index is added for it: every scan would write it. Lists of an organization and of an event are read by the indexes
that there are. A ticket has the id of the scan that activated it, `undone_activation` those of earlier ones; refused
scans have an index by card. An activation that was undone leaves the list of its card with the ticket, if that moves to
another card. Scans of a ticket are its activations, on any card, and the refusals of its present card.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, LiteralString
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import END, Place
from gatepass.domain.keys import Mode

# A page reads at most this many scans, however few of them are of its mode.
LOOKED_THROUGH: Final = 20_000
# A scan has the time at which its process began it, and is seen when it commits: up to 6 s later, and as much again for
# a process that is behind PostgreSQL's clock, by which the list goes. Beyond READY_WITHIN, and half of the round trip
# that measures it, none is ready. A later one must not come before a cursor, so the newest seconds are held back.
SETTLING: Final = timedelta(seconds=12)
# A transaction that is still writing holds back the list, but for no longer than this.
FARTHEST: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class RecordedScan:
    at: datetime
    id: UUID
    mode: Mode
    event_id: UUID
    card_number: str
    card_id: UUID | None
    ticket_id: UUID | None
    verdict: str
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScanFilter:
    """At most one of them is set."""

    event_id: UUID | None = None
    ticket_id: UUID | None = None
    card_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ScanPage:
    """`place` is where the next page begins; a page may be short and not the last."""

    scans: list[RecordedScan]
    has_more: bool
    place: Place | None


async def newest(
    tx: Tx, organization_id: UUID, mode: Mode, wanted: ScanFilter, *, before: Place | None, limit: int
) -> ScanPage:
    """Scans, newest first, before this place."""
    place = before or END
    here = (organization_id, mode, place.at, place.id, limit + 1, LOOKED_THROUGH)
    if wanted.event_id is not None:
        found = await tx.all(RecordedScan, NEWEST_OF_EVENT, *here, wanted.event_id)
    elif wanted.ticket_id is not None or wanted.card_id is not None:
        card_id = wanted.card_id or await tx.value(CARD_OF, organization_id, wanted.ticket_id)
        found = await tx.all(RecordedScan, NEWEST_OF_CARD, *here, card_id, wanted.ticket_id)
    else:
        found = await tx.all(RecordedScan, NEWEST, *here)
    return await _page(tx, found, limit, wanted, NEWEST_LOOKED_AT, organization_id, place.at, place.id)


async def following(
    tx: Tx, organization_id: UUID, mode: Mode, wanted: ScanFilter, *, after: Place, limit: int
) -> ScanPage:
    """Scans, oldest first, after this place. None that is written later comes before the last of them."""
    settled = await tx.value(SETTLED, FARTHEST, SETTLING)
    here = (organization_id, mode, after.at, after.id, limit + 1, LOOKED_THROUGH)
    if wanted.event_id is not None:
        found = await tx.all(RecordedScan, FOLLOWING_OF_EVENT, *here, settled, wanted.event_id)
    elif wanted.ticket_id is not None or wanted.card_id is not None:
        card_id = wanted.card_id or await tx.value(CARD_OF, organization_id, wanted.ticket_id)
        found = await tx.all(RecordedScan, FOLLOWING_OF_CARD, *here, settled, card_id, wanted.ticket_id)
    else:
        found = await tx.all(RecordedScan, FOLLOWING, *here, settled)
    at_end = (FOLLOWING_LOOKED_AT, organization_id, after.at, after.id, settled)
    page = await _page(tx, found, limit, wanted, *at_end)
    return ScanPage(page.scans, page.has_more, page.place or (_place(page.scans[-1]) if page.scans else after))


async def _page(
    tx: Tx, found: list[RecordedScan], limit: int, wanted: ScanFilter, looked_at: LiteralString, *here: object
) -> ScanPage:
    """A page without a filter may end because it has looked through enough scans of the other mode."""
    if len(found) > limit:
        return ScanPage(found[:limit], has_more=True, place=_place(found[limit - 1]))
    if wanted != ScanFilter():
        return ScanPage(found, has_more=False, place=None)
    place = await tx.one(Place, looked_at, *here, LOOKED_THROUGH - 1)
    return ScanPage(found, has_more=place is not None, place=place)


def _place(scan: RecordedScan) -> Place:
    return Place(scan.at, scan.id)


# In each statement $1 is the organization, $2 the mode, $3 and $4 the place, $5 and $6 how many are wanted and read.

CARD_OF: Final = """
    SELECT card_id
      FROM ticket
     WHERE organization_id = $1
       AND id = $2
"""

NEWEST: Final = """
    SELECT *
      FROM (SELECT at, id, mode, event_id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
              FROM scan
             WHERE organization_id = $1
               AND at <= $3
               AND (at, id) < ($3, $4)
             ORDER BY at DESC, id DESC
             LIMIT $6) looked
     WHERE mode = $2
     ORDER BY at DESC, id DESC
     LIMIT $5
"""

NEWEST_LOOKED_AT: Final = """
    SELECT at, id
      FROM scan
     WHERE organization_id = $1
       AND at <= $2
       AND (at, id) < ($2, $3)
     ORDER BY at DESC, id DESC
    OFFSET $4
     LIMIT 1
"""

# An event is of one mode, so that every scan that is read is shown.
NEWEST_OF_EVENT: Final = """
    SELECT *
      FROM (SELECT at, id, mode, event_id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
              FROM scan
             WHERE organization_id = $1
               AND event_id = $7
               AND at <= $3
               AND (at, id) < ($3, $4)
             ORDER BY at DESC, id DESC
             LIMIT $6) looked
     WHERE mode = $2
     ORDER BY at DESC, id DESC
     LIMIT $5
"""

NEWEST_OF_CARD: Final = """
    SELECT at, id, mode, event_id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
      FROM (SELECT s.*
              FROM ticket t
              JOIN scan s ON s.organization_id = t.organization_id AND s.at = t.activated_at AND s.id = t.activated_by
             WHERE t.organization_id = $1
               AND t.card_id = $7
               AND ($8::uuid IS NULL OR t.id = $8)
             UNION ALL
            SELECT s.*
              FROM ticket t
              JOIN undone_activation u ON u.organization_id = t.organization_id AND u.ticket_id = t.id
              JOIN scan s ON s.organization_id = u.organization_id AND s.at = u.scan_at AND s.id = u.scan_id
             WHERE t.organization_id = $1
               AND t.card_id = $7
               AND ($8::uuid = t.id OR $8 IS NULL AND s.card_id = $7)
             UNION ALL
            (SELECT s.*
               FROM scan s
              WHERE s.organization_id = $1
                AND s.card_id = $7
                AND s.verdict <> 'activated'
                AND s.at <= $3
                AND (s.at, s.id) < ($3, $4)
              ORDER BY s.at DESC, s.id DESC
              LIMIT $6)) seen
     WHERE mode = $2
       AND (at, id) < ($3, $4)
       AND ($8::uuid IS NULL OR ticket_id = $8)
     ORDER BY at DESC, id DESC
     LIMIT $5
"""

# The time before which every scan is visible: no transaction that began earlier is still writing. It is PostgreSQL's:
# a reader that is ahead must not go past a scan of a process that is behind.
SETTLED: Final = """
    SELECT greatest(clock_timestamp() - $1::interval,
                    least(clock_timestamp(), (SELECT min(a.xact_start)
                                                FROM pg_stat_activity a
                                               WHERE a.datname = current_database()
                                                 AND a.backend_xid IS NOT NULL))) - $2::interval
"""

FOLLOWING: Final = """
    SELECT *
      FROM (SELECT at, id, mode, event_id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
              FROM scan
             WHERE organization_id = $1
               AND at >= $3
               AND (at, id) > ($3, $4)
               AND at < $7
             ORDER BY at, id
             LIMIT $6) looked
     WHERE mode = $2
     ORDER BY at, id
     LIMIT $5
"""

FOLLOWING_LOOKED_AT: Final = """
    SELECT at, id
      FROM scan
     WHERE organization_id = $1
       AND at >= $2
       AND (at, id) > ($2, $3)
       AND at < $4
     ORDER BY at, id
    OFFSET $5
     LIMIT 1
"""

# With both bounds inside, PostgreSQL 15 would rather read all scans of that time than those of the event.
FOLLOWING_OF_EVENT: Final = """
    SELECT *
      FROM (SELECT at, id, mode, event_id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
              FROM scan
             WHERE organization_id = $1
               AND event_id = $8
               AND at >= $3
               AND (at, id) > ($3, $4)
             ORDER BY at, id
             LIMIT $6) looked
     WHERE mode = $2
       AND at < $7
     ORDER BY at, id
     LIMIT $5
"""

FOLLOWING_OF_CARD: Final = """
    SELECT at, id, mode, event_id, card_number, card_id, ticket_id, verdict, gate, scanner_id, occurred_at
      FROM (SELECT s.*
              FROM ticket t
              JOIN scan s ON s.organization_id = t.organization_id AND s.at = t.activated_at AND s.id = t.activated_by
             WHERE t.organization_id = $1
               AND t.card_id = $8
               AND ($9::uuid IS NULL OR t.id = $9)
             UNION ALL
            SELECT s.*
              FROM ticket t
              JOIN undone_activation u ON u.organization_id = t.organization_id AND u.ticket_id = t.id
              JOIN scan s ON s.organization_id = u.organization_id AND s.at = u.scan_at AND s.id = u.scan_id
             WHERE t.organization_id = $1
               AND t.card_id = $8
               AND ($9::uuid = t.id OR $9 IS NULL AND s.card_id = $8)
             UNION ALL
            (SELECT s.*
               FROM scan s
              WHERE s.organization_id = $1
                AND s.card_id = $8
                AND s.verdict <> 'activated'
                AND s.at >= $3
                AND (s.at, s.id) > ($3, $4)
              ORDER BY s.at, s.id
              LIMIT $6)) seen
     WHERE mode = $2
       AND (at, id) > ($3, $4)
       AND at < $7
       AND ($9::uuid IS NULL OR ticket_id = $9)
     ORDER BY at, id
     LIMIT $5
"""
