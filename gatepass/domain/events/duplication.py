"""Duplicating an event: the same again on another day, as a draft without tickets."""

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import InvalidRequest
from gatepass.domain.events.catalogue import find
from gatepass.domain.events.categories import add_category
from gatepass.domain.events.editing import create, lock
from gatepass.domain.events.event import Event
from gatepass.domain.events.money import exact
from gatepass.domain.events.zones import shifted, zone

MOST_DAYS: Final = 3_660


async def duplicate(
    tx: Tx, organization_id: UUID, event_id: UUID, *, days: int, by: str, at: datetime, title: str | None = None
) -> UUID:
    """A draft like this event, so many days later by the clock of the venue: what began at eight begins at eight."""
    if not -MOST_DAYS <= days <= MOST_DAYS:
        raise InvalidRequest(f"At most {MOST_DAYS:,} days.", param="days")
    # Held, so that its picture is not forgotten before the copy names it too.
    await lock(tx, organization_id, event_id)
    listing = await find(tx, organization_id, event_id)
    event = moved(listing.event, days)
    copy_id = await create(
        tx, organization_id, title or event.title, event.starts_at, event.ends_at, by=by, at=at,
        time_zone=event.time_zone, description=event.description, venue=event.venue, city=event.city,
        country=event.country, cover_url=event.cover_url,
    )  # fmt: skip
    for one in listing.categories:
        price = exact(one.price_minor, one.currency)
        await add_category(
            tx, organization_id, copy_id, one.name, price, one.currency, one.quantity_total, tier=one.tier, by=by, at=at
        )
    return copy_id


def moved(event: Event, days: int) -> Event:
    """The same event on another day. An end that the clocks carry past its start keeps the event's length instead."""
    clock = zone(event.time_zone)
    starts_at, ends_at = shifted(event.starts_at, clock, days), shifted(event.ends_at, clock, days)
    if ends_at <= starts_at:
        ends_at = starts_at + (event.ends_at - event.starts_at)
    return replace(event, starts_at=starts_at, ends_at=ends_at)
