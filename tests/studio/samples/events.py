"""Ids and forms for the routes of events."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from gatepass.base.ids import new_id
from gatepass.domain import events
from tests import factory
from tests.studio.routes import XSS


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    """A published event with a category without sales, a draft that can be published, and one that ended by itself."""
    at = factory.now()
    start = at + timedelta(days=3)
    async with tenant.db.transaction() as tx:
        draft_id = await events.create(
            tx, tenant.id, XSS, start, start + timedelta(hours=2), by=factory.BY, at=at, description=XSS, venue=XSS,
            city=XSS, country="BE", time_zone="Europe/Brussels",
        )  # fmt: skip
        await events.add_category(tx, tenant.id, draft_id, XSS, Decimal(5), "EUR", 10, by=factory.BY, at=at)
        offer_id = await events.add_category(
            tx, tenant.id, tenant.event_id, XSS, Decimal(5), "EUR", 10, by=factory.BY, at=at
        )
    past_id = await tenant.event(starts_in=-timedelta(days=3))
    async with tenant.db.transaction() as tx:
        await events.end_past_events(tx, at=at)
    return {
        "event_id": str(tenant.event_id),
        "draft_id": str(draft_id),
        "offer_id": str(offer_id),
        "past_id": str(past_id),
        "announcement_id": str(new_id()),
    }


DETAILS: dict[str, Any] = {
    "title": XSS,
    "description": XSS,
    "venue": XSS,
    "city": XSS,
    "country": "BE",
    "time_zone": "Europe/Brussels",
    "starts_date": "2031-06-01",
    "starts_time": "20:00",
    "ends_date": "2031-06-01",
    "ends_time": "23:00",
    "doors_open_date": "2031-06-01",
    "doors_open_time": "18:30",
    "offline": "stop",
}
OFFER: dict[str, Any] = {
    "name": XSS,
    "tier": "vip",
    "price": "12.50",
    "currency": "EUR",
    "quantity_total": "50",
    "valid_from_date": "2031-06-01",
    "valid_from_time": "19:30",
    "gates": XSS,
}

FORMS: dict[str, dict[str, Any]] = {
    "POST /studio/{mode}/events/new": DETAILS,
    "POST /studio/{mode}/events/{event_id}/edit": DETAILS,
    "POST /studio/{mode}/events/{event_id}/cover": {"cover_url": "https://example.com/cover.png"},
    "POST /studio/{mode}/events/{event_id}/categories": OFFER,
    "POST /studio/{mode}/events/{event_id}/categories/{offer_id}": OFFER,
    "POST /studio/{mode}/events/{event_id}/categories/{offer_id}/remove": {},
    "POST /studio/{mode}/events/{event_id}/duplicate": {"title": XSS, "every": "1", "unit": "weeks"},
    "POST /studio/{mode}/events/{draft_id}/publish": {},
    "POST /studio/{mode}/events/{draft_id}/delete": {},
    "POST /studio/{mode}/events/{event_id}/cancel": {"reason": XSS},
    "POST /studio/{mode}/events/{event_id}/end": {},
    "POST /studio/{mode}/events/{past_id}/reopen": {},
    "POST /studio/{mode}/events/{event_id}/tell": {},
    "POST /studio/{mode}/events/{event_id}/tell/{announcement_id}/stop": {},
}
# There is none to stop: while one is written, no other begins.
UNAUDITED = {"POST /studio/{mode}/events/{event_id}/tell/{announcement_id}/stop"}
# Parts of pages, for htmx.
PARTS = {"GET /studio/{mode}/events/clock"}
