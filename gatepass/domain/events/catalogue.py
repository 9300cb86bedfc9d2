"""Reading the catalogue: published events in a list, any event by its id."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.events.event import Event, EventNotFound, TicketCategory


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An event with its categories, as the catalogue shows it."""

    event: Event
    categories: list[TicketCategory]


async def published(tx: Tx, organization_id: UUID, *, limit: int) -> list[CatalogueEntry]:
    """The first published events by start."""
    events = await tx.all(Event, PUBLISHED, organization_id, limit)
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

PUBLISHED: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
           updated_at, codes, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND status = 'published'
     ORDER BY starts_at, id
     LIMIT $2
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
