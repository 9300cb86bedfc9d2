"""Reading the catalogue: published events in a list, any event by its id."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import START, Place
from gatepass.domain.events.event import Event, EventNotFound, EventStatus, TicketCategory


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An event with its categories, as the catalogue shows it."""

    event: Event
    categories: list[TicketCategory]


async def with_status(
    tx: Tx, organization_id: UUID, status: EventStatus, *, after: Place | None, limit: int
) -> list[CatalogueEntry]:
    """Events with this status by start, at most `limit`."""
    if status is EventStatus.PUBLISHED:
        return await published(tx, organization_id, after=after, limit=limit)
    place = after or START
    found = await tx.all(Event, WITH_STATUS, organization_id, status, place.at, place.id, limit)
    return await with_categories(tx, organization_id, found)


async def published(tx: Tx, organization_id: UUID, *, after: Place | None, limit: int) -> list[CatalogueEntry]:
    """Published events by start, at most `limit`."""
    if after is None:
        events = await tx.all(Event, FIRST_PAGE, organization_id, limit)
    else:
        events = await tx.all(Event, NEXT_PAGE, organization_id, after.at, after.id, limit)
    return await with_categories(tx, organization_id, events)


async def titles_of(tx: Tx, organization_id: UUID, event_ids: Iterable[UUID]) -> dict[UUID, str]:
    """The titles of these events, for pages that only name them."""
    found = await tx.rows(TITLES, organization_id, list(event_ids))
    return {row["id"]: row["title"] for row in found}


async def find(tx: Tx, organization_id: UUID, event_id: UUID) -> CatalogueEntry:
    event = await tx.one(Event, FIND, organization_id, event_id)
    if event is None:
        raise EventNotFound
    return (await with_categories(tx, organization_id, [event]))[0]


async def with_categories(tx: Tx, organization_id: UUID, events: Sequence[Event]) -> list[CatalogueEntry]:
    categories = await tx.all(TicketCategory, CATEGORIES, organization_id, [event.id for event in events])
    return [CatalogueEntry(event, [c for c in categories if c.event_id == event.id]) for event in events]


TITLES: Final = """
    SELECT id, title
      FROM event
     WHERE organization_id = $1
       AND id = ANY ($2)
"""

FIRST_PAGE: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
           updated_at, codes, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND status = 'published'
     ORDER BY starts_at, id
     LIMIT $2
"""

NEXT_PAGE: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
           updated_at, codes, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND status = 'published'
       AND (starts_at, id) > ($2, $3)
     ORDER BY starts_at, id
     LIMIT $4
"""

WITH_STATUS: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
           updated_at, codes, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND status = $2
       AND (starts_at, id) > ($3, $4)
     ORDER BY starts_at, id
     LIMIT $5
"""

FIND: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
           updated_at, codes, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND id = $2
"""

CATEGORIES: Final = """
    SELECT id, event_id, name, tier, price_minor, currency, quantity_total, quantity_sold, updated_at,
           valid_from, valid_until, gates
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = ANY ($2)
       AND removed_at IS NULL
     ORDER BY id
"""
