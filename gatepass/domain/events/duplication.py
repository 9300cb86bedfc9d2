"""Duplicating an event: a draft with the same details on another day, without tickets."""

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest
from gatepass.domain.events.catalogue import find
from gatepass.domain.events.categories import add_category
from gatepass.domain.events.editing import create, lock
from gatepass.domain.events.event import Event, TicketCategory
from gatepass.domain.events.money import exact
from gatepass.domain.events.time_zones import shifted, zone

MOST_DAYS: Final = 3_660


async def duplicate(
    tx: Tx, organization_id: UUID, event_id: UUID, *, days: int, by: str, at: datetime, title: str | None = None
) -> UUID:
    """A draft like this event, `days` later in local time: an event that began at eight begins at eight."""
    if not -MOST_DAYS <= days <= MOST_DAYS:
        raise InvalidRequest(f"At most {MOST_DAYS:,} days.", param="days")
    # Locked, so that its picture is not deleted before the copy refers to it too.
    await lock(tx, organization_id, event_id)
    original = await find(tx, organization_id, event_id)
    event = shifted_event(original.event, days)
    copy_id = await create(
        tx, organization_id, title or event.title, event.starts_at, event.ends_at, by=by, at=at,
        time_zone=event.time_zone, description=event.description, venue=event.venue, city=event.city,
        country=event.country, cover_url=event.cover_url, codes=event.codes, doors_open_at=event.doors_open_at,
        offline=event.offline,
    )  # fmt: skip
    for one in original.categories:
        price = exact(one.price_minor, one.currency)
        valid_from, valid_until = _window(one, zone(event.time_zone), days)
        await add_category(
            tx, organization_id, copy_id, one.name, price, one.currency, one.quantity_total, tier=one.tier,
            valid_from=valid_from, valid_until=valid_until, gates=one.gates, by=by, at=at,
        )  # fmt: skip
    return copy_id


def shifted_event(event: Event, days: int) -> Event:
    """The same event on another day; its doors open as long before its start."""
    starts_at, ends_at = _period(event.starts_at, event.ends_at, zone(event.time_zone), days)
    doors_open_at = event.doors_open_at and event.doors_open_at + (starts_at - event.starts_at)
    return replace(event, starts_at=starts_at, ends_at=ends_at, doors_open_at=doors_open_at)


def _window(category: TicketCategory, clock: ZoneInfo, days: int) -> tuple[datetime | None, datetime | None]:
    start, end = category.valid_from, category.valid_until
    if start is not None and end is not None:
        return _period(start, end, clock, days)
    return start and shifted(start, clock, days), end and shifted(end, clock, days)


def _period(start: datetime, end: datetime, clock: ZoneInfo, days: int) -> tuple[datetime, datetime]:
    """On another day. If a change of the clocks puts its end before its start, it keeps its length."""
    new_start, new_end = shifted(start, clock, days), shifted(end, clock, days)
    return new_start, new_end if new_start < new_end else new_start + (end - start)
