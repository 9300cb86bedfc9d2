"""The events of the demo: their status, their categories and their prices."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import events
from gatepass.domain.events import EventStatus
from gatepass.domain.events.editing import MAINTENANCE


@dataclass(frozen=True, slots=True)
class DemoEvent:
    title: str
    description: str
    venue: str
    city: str
    country: str
    starts_in: timedelta
    lasts: timedelta
    statuses: tuple[EventStatus, ...]


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    tier: str
    price: Decimal


async def create(
    tx: Tx, organization_id: UUID, event: DemoEvent, capacity: int, *, by: str, at: datetime
) -> tuple[UUID, dict[UUID, Category]]:
    """Make the event, with `capacity` in each category; its id, and its categories by their ids."""
    starts_at = at.replace(minute=0, second=0, microsecond=0) + event.starts_in
    event_id = await events.create(
        tx,
        organization_id,
        event.title,
        starts_at,
        starts_at + event.lasts,
        by=by,
        at=at,
        description=event.description,
        venue=event.venue,
        city=event.city,
        country=event.country,
        time_zone=TIME_ZONES[event.country],
        # A scan for an event that has begun already is to open the gate at once.
        doors_open_at=starts_at - DOORS_BEFORE if starts_at > at else None,
    )
    categories = {
        await events.add_category(
            tx, organization_id, event_id, one.name, one.price, "EUR", capacity, tier=one.tier, by=by, at=at
        ): one
        for one in CATEGORIES
    }
    for status in event.statuses:
        # It ended by itself, so that it can be opened again.
        who = MAINTENANCE if status is EventStatus.ENDED else by
        await events.change_status(tx, organization_id, event_id, status, by=who, at=at, reason="as the programme says")
    return event_id, categories


TIME_ZONES: Final = {"BE": "Europe/Brussels", "FR": "Europe/Paris"}

CATEGORIES: Final = (
    Category("General", "standard", Decimal("25.50")),
    Category("Balcony", "standard", Decimal(40)),
    Category("VIP", "vip", Decimal(99)),
)

FIVE_HOURS: Final = timedelta(hours=5)
DOORS_BEFORE: Final = timedelta(hours=1)

# The event that the cards hold tickets for. It lasts long, so that maintenance does not end it while a demo is in use.
PUBLISHED: Final = DemoEvent(
    "Winter Garden",
    "Open every day, all year.",
    "Botanic Hall",
    "Brussels",
    "BE",
    timedelta(days=-1),
    timedelta(days=400),
    (EventStatus.PUBLISHED,),
)

EVENTS: Final = {
    "published": PUBLISHED,
    "draft": DemoEvent(
        "Spring Festival", "Not announced yet.", "Harbour Stage", "Ostend", "BE", timedelta(days=150), FIVE_HOURS, ()
    ),
    "cancelled": DemoEvent(
        "Open Air Cinema",
        "Cancelled for lack of summer.",
        "City Park",
        "Ghent",
        "BE",
        timedelta(days=20),
        FIVE_HOURS,
        (EventStatus.PUBLISHED, EventStatus.CANCELLED),
    ),
    "ended": DemoEvent(
        "Autumn Concert",
        "It was a full house.",
        "Flagey",
        "Brussels",
        "BE",
        timedelta(days=-14),
        FIVE_HOURS,
        (EventStatus.PUBLISHED, EventStatus.ENDED),
    ),
}

# Published too, so that a list has more than one page.
ALSO_PUBLISHED: Final = (
    DemoEvent(
        "Jazz at Noon",
        "Bring lunch.",
        "Old Market",
        "Antwerp",
        "BE",
        timedelta(days=30),
        FIVE_HOURS,
        PUBLISHED.statuses,
    ),
    DemoEvent(
        "Chess Night",
        "Blitz, then soup.",
        "Library",
        "Leuven",
        "BE",
        timedelta(days=60),
        FIVE_HOURS,
        PUBLISHED.statuses,
    ),
)

OF_SECOND_ORGANIZATION: Final = DemoEvent(
    "Somebody Else's Fair",
    "It belongs to the other organization.",
    "Fairground",
    "Lille",
    "FR",
    timedelta(days=-1),
    timedelta(days=400),
    PUBLISHED.statuses,
)
