"""The programme: every event of an organization, whatever its status, page by page in the order of their starts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import END, START, Place
from gatepass.domain.events.catalogue import Listing, with_categories
from gatepass.domain.events.event import Event, EventStatus

# A page with a filter looks through so many and no more, however rare what it asks for is.
LOOKED_THROUGH: Final = 5_000


class When(StrEnum):
    # A draft or published, and not over yet.
    UPCOMING = "upcoming"
    # Over, ended or cancelled.
    PAST = "past"


class Order(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list shows."""

    when: When | None = None
    status: EventStatus | None = None
    title: str | None = None
    order: Order = Order.EARLIEST


@dataclass(frozen=True, slots=True)
class ProgrammePage:
    """`after` is where the next page begins. With a filter a page may be short, even empty, and not the last."""

    listings: list[Listing]
    after: Place | None


async def programme(
    tx: Tx, organization_id: UUID, wanted: Wanted, *, after: Place | None, limit: int, at: datetime
) -> ProgrammePage:
    place = after or (START if wanted.order is Order.EARLIEST else END)
    title = wanted.title.strip().lower() if wanted.title else None
    found = await _read(tx, organization_id, wanted, place, wanted.when, at, title or None, limit + 1, 0)
    listings = await with_categories(tx, organization_id, found[:limit])
    if len(found) > limit:
        return ProgrammePage(listings, _place(found[limit - 1]))
    if not (title or wanted.when):
        return ProgrammePage(listings, None)
    looked = await _read(tx, organization_id, wanted, place, None, at, None, 1, LOOKED_THROUGH - 1)
    return ProgrammePage(listings, _place(looked[0]) if looked else None)


async def _read(
    tx: Tx,
    organization_id: UUID,
    wanted: Wanted,
    place: Place,
    *asked: object,
) -> list[Event]:
    """By the index that gives the order and knows the status."""
    here = (organization_id, place.at, place.id, LOOKED_THROUGH, *asked)
    if wanted.status is not None:
        page = STATUS_EARLIEST if wanted.order is Order.EARLIEST else STATUS_LATEST
        return await tx.all(Event, page, *here, wanted.status)
    if wanted.order is Order.LATEST:
        return await tx.all(Event, LATEST, *here)
    return await tx.all(Event, UPCOMING if wanted.when is When.UPCOMING else EARLIEST, *here)


def _place(event: Event) -> Place:
    return Place(event.starts_at, event.id)


# In all of these $1 is the organization, $2 and $3 the place, $4 how many are looked through, $5 to $7 the filters and
# their clock, $8 and $9 limit and offset. The inner query reads an index in its order, so that the outer LIMIT ends it.

EARLIEST: Final = """
    SELECT *
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone
              FROM event
             WHERE organization_id = $1
               AND (starts_at, id) > ($2, $3)
             ORDER BY starts_at, id
             LIMIT $4) looked
     WHERE ($5::text IS NULL
            OR $5 = CASE WHEN status IN ('draft', 'published') AND ends_at > $6 THEN 'upcoming' ELSE 'past' END)
       AND ($7::text IS NULL OR strpos(lower(title), $7) > 0)
     ORDER BY starts_at, id
     LIMIT $8
    OFFSET $9
"""

LATEST: Final = """
    SELECT *
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone
              FROM event
             WHERE organization_id = $1
               AND (starts_at, id) < ($2, $3)
             ORDER BY starts_at DESC, id DESC
             LIMIT $4) looked
     WHERE ($5::text IS NULL
            OR $5 = CASE WHEN status IN ('draft', 'published') AND ends_at > $6 THEN 'upcoming' ELSE 'past' END)
       AND ($7::text IS NULL OR strpos(lower(title), $7) > 0)
     ORDER BY starts_at DESC, id DESC
     LIMIT $8
    OFFSET $9
"""

# Two orders that are merged: each status by its own stretch of the index.
UPCOMING: Final = """
    SELECT *
      FROM ((SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone
               FROM event
              WHERE organization_id = $1
                AND status = 'draft'
                AND (starts_at, id) > ($2, $3)
              ORDER BY starts_at, id
              LIMIT $4)
            UNION ALL
            (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone
               FROM event
              WHERE organization_id = $1
                AND status = 'published'
                AND (starts_at, id) > ($2, $3)
              ORDER BY starts_at, id
              LIMIT $4)
            ORDER BY starts_at, id
            LIMIT $4) looked
     WHERE ($5::text IS NULL OR ends_at > $6)
       AND ($7::text IS NULL OR strpos(lower(title), $7) > 0)
     ORDER BY starts_at, id
     LIMIT $8
    OFFSET $9
"""

STATUS_EARLIEST: Final = """
    SELECT *
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone
              FROM event
             WHERE organization_id = $1
               AND status = $10
               AND (starts_at, id) > ($2, $3)
             ORDER BY starts_at, id
             LIMIT $4) looked
     WHERE ($5::text IS NULL
            OR $5 = CASE WHEN status IN ('draft', 'published') AND ends_at > $6 THEN 'upcoming' ELSE 'past' END)
       AND ($7::text IS NULL OR strpos(lower(title), $7) > 0)
     ORDER BY starts_at, id
     LIMIT $8
    OFFSET $9
"""

STATUS_LATEST: Final = """
    SELECT *
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone
              FROM event
             WHERE organization_id = $1
               AND status = $10
               AND (starts_at, id) < ($2, $3)
             ORDER BY starts_at DESC, id DESC
             LIMIT $4) looked
     WHERE ($5::text IS NULL
            OR $5 = CASE WHEN status IN ('draft', 'published') AND ends_at > $6 THEN 'upcoming' ELSE 'past' END)
       AND ($7::text IS NULL OR strpos(lower(title), $7) > 0)
     ORDER BY starts_at DESC, id DESC
     LIMIT $8
    OFFSET $9
"""
