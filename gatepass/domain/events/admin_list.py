"""The list of events for their organizers: in every status, page by page, ordered by start."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import END, START, Place
from gatepass.domain.events.catalogue import CatalogueEntry, with_categories
from gatepass.domain.events.event import Event, EventStatus

# A page with a filter reads at most this many events, however few of them match.
LOOKED_THROUGH: Final = 5_000


class EventPeriod(StrEnum):
    # A draft or published, and not over yet.
    UPCOMING = "upcoming"
    # Over, or ended, or cancelled.
    PAST = "past"


class EventOrder(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, slots=True)
class EventFilter:
    when: EventPeriod | None = None
    status: EventStatus | None = None
    title: str | None = None
    order: EventOrder = EventOrder.EARLIEST


@dataclass(frozen=True, slots=True)
class EventPage:
    """`after` is where the next page begins. With a filter a page may be short or empty, and not the last."""

    entries: list[CatalogueEntry]
    after: Place | None


async def list_events(
    tx: Tx, organization_id: UUID, filters: EventFilter, *, after: Place | None, limit: int, at: datetime
) -> EventPage:
    place = after or (START if filters.order is EventOrder.EARLIEST else END)
    title = filters.title.strip().lower() if filters.title else None
    found = await _read(tx, organization_id, filters, place, filters.when, at, title or None, limit + 1, 0)
    entries = await with_categories(tx, organization_id, found[:limit])
    if len(found) > limit:
        return EventPage(entries, _place(found[limit - 1]))
    if not (title or filters.when):
        return EventPage(entries, None)
    looked = await _read(tx, organization_id, filters, place, None, at, None, 1, LOOKED_THROUGH - 1)
    return EventPage(entries, _place(looked[0]) if looked else None)


async def _read(
    tx: Tx,
    organization_id: UUID,
    filters: EventFilter,
    place: Place,
    *values: object,
) -> list[Event]:
    """Read by the index that has the order and the status."""
    here = (organization_id, place.at, place.id, LOOKED_THROUGH, *values)
    if filters.status is not None:
        page = STATUS_EARLIEST if filters.order is EventOrder.EARLIEST else STATUS_LATEST
        return await tx.all(Event, page, *here, filters.status)
    if filters.order is EventOrder.LATEST:
        return await tx.all(Event, LATEST, *here)
    return await tx.all(Event, UPCOMING if filters.when is EventPeriod.UPCOMING else EARLIEST, *here)


def _place(event: Event) -> Place:
    return Place(event.starts_at, event.id)


# In each statement $1 is the organization, $2 and $3 the place, $4 how many rows are read, $5 to $7 the filters and the
# current time, $8 and $9 limit and offset. The inner query reads an index in order, so that the outer LIMIT ends it.

EARLIEST: Final = """
    SELECT *
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
                   updated_at, codes, doors_open_at, offline
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
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
                   updated_at, codes, doors_open_at, offline
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

# It merges two ordered reads, one range of the index for each status.
UPCOMING: Final = """
    SELECT *
      FROM ((SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
                    updated_at, codes, doors_open_at, offline
               FROM event
              WHERE organization_id = $1
                AND status = 'draft'
                AND (starts_at, id) > ($2, $3)
              ORDER BY starts_at, id
              LIMIT $4)
            UNION ALL
            (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
                    updated_at, codes, doors_open_at, offline
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
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
                   updated_at, codes, doors_open_at, offline
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
      FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
                   updated_at, codes, doors_open_at, offline
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
