"""The demo's programme: which events there are, in which status, and what their tickets cost."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import events
from gatepass.domain.events import EventStatus


@dataclass(frozen=True, slots=True)
class Billing:
    title: str
    description: str
    venue: str
    city: str
    country: str
    starts_in: timedelta
    lasts: timedelta
    moves: tuple[EventStatus, ...]


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    tier: str
    price: Decimal


async def announce(
    tx: Tx, organization_id: UUID, billing: Billing, capacity: int, *, by: str, at: datetime
) -> tuple[UUID, dict[UUID, Category]]:
    """Make the event, with places for `capacity` in each category; its id and its categories by theirs."""
    starts_at = at.replace(minute=0, second=0, microsecond=0) + billing.starts_in
    event_id = await events.create(
        tx,
        organization_id,
        billing.title,
        starts_at,
        starts_at + billing.lasts,
        by=by,
        at=at,
        description=billing.description,
        venue=billing.venue,
        city=billing.city,
        country=billing.country,
        time_zone=TIME_ZONES[billing.country],
    )
    categories = {
        await events.add_category(
            tx, organization_id, event_id, one.name, one.price, "EUR", capacity, tier=one.tier, by=by, at=at
        ): one
        for one in CATEGORIES
    }
    for status in billing.moves:
        await events.move(tx, organization_id, event_id, status, by=by, at=at, reason="as the programme says")
    return event_id, categories


TIME_ZONES: Final = {"BE": "Europe/Brussels", "FR": "Europe/Paris"}

CATEGORIES: Final = (
    Category("General", "standard", Decimal("25.50")),
    Category("Balcony", "standard", Decimal(40)),
    Category("VIP", "vip", Decimal(99)),
)

HOURS: Final = timedelta(hours=5)

# The event that the cards hold tickets for. It lasts long, so that upkeep does not end it under a demo that is kept.
PUBLISHED: Final = Billing(
    "Winter Garden",
    "Open every day, all year.",
    "Botanic Hall",
    "Brussels",
    "BE",
    timedelta(days=-1),
    timedelta(days=400),
    (EventStatus.PUBLISHED,),
)

PROGRAMME: Final = {
    "published": PUBLISHED,
    "draft": Billing(
        "Spring Festival", "Not announced yet.", "Harbour Stage", "Ostend", "BE", timedelta(days=150), HOURS, ()
    ),
    "cancelled": Billing(
        "Open Air Cinema",
        "Cancelled for lack of summer.",
        "City Park",
        "Ghent",
        "BE",
        timedelta(days=20),
        HOURS,
        (EventStatus.PUBLISHED, EventStatus.CANCELLED),
    ),
    "ended": Billing(
        "Autumn Concert",
        "It was a full house.",
        "Flagey",
        "Brussels",
        "BE",
        timedelta(days=-14),
        HOURS,
        (EventStatus.PUBLISHED, EventStatus.ENDED),
    ),
}

# Published too, so that a list has more than one page.
ALSO_PUBLISHED: Final = (
    Billing("Jazz at Noon", "Bring lunch.", "Old Market", "Antwerp", "BE", timedelta(days=30), HOURS, PUBLISHED.moves),
    Billing("Chess Night", "Blitz, then soup.", "Library", "Leuven", "BE", timedelta(days=60), HOURS, PUBLISHED.moves),
)

ELSEWHERE: Final = Billing(
    "Somebody Else's Fair",
    "It belongs to the other organization.",
    "Fairground",
    "Lille",
    "FR",
    timedelta(days=-1),
    timedelta(days=400),
    PUBLISHED.moves,
)
