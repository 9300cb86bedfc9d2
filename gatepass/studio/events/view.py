"""Shared by the pages of an event: times in the venue's time zone, prices, states and their colours."""

from datetime import datetime
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response

from gatepass.domain.events import (
    CheckFinding,
    Event,
    EventStatus,
    TicketCategory,
    time_zones,
)
from gatepass.domain.events.countries import countries
from gatepass.domain.events.money import written
from gatepass.studio.services.templates import time_element
from gatepass.studio.web.context import Context

TONES: Final = {
    EventStatus.DRAFT: "calm",
    EventStatus.PUBLISHED: "good",
    EventStatus.CANCELLED: "bad",
    EventStatus.ENDED: "",
}
FINDINGS: Final = {
    CheckFinding.OK: ("good", "circle-check", "Ready"),
    CheckFinding.ADVICE: ("warn", "triangle-alert", "Advice"),
    CheckFinding.MISSING: ("bad", "circle-alert", "Missing"),
}


def show(context: Context, template: str, *, status: int = 200, **facts: Any) -> Response:
    """A page about an event shows all times in the event's zone."""
    event = facts.get("event") or (facts["listing"].event if "listing" in facts else None)
    zone = event.time_zone if event is not None else context.zone
    return context.page(template, status=status, **SHOWN, **({"zone": zone} | facts))


def local(at: datetime, zone: str) -> Markup:
    """The venue's local time: `Sat 14 Nov 2026, 19:30`."""
    return time_element(at, at.astimezone(time_zones.zone(zone)).strftime("%a %-d %b %Y, %H:%M"))


def clock(at: datetime, zone: str) -> str:
    """The time zone with its offset: `Europe/Brussels, UTC+01:00`."""
    return zone if zone == "UTC" else f"{zone}, {time_zones.offset(at, time_zones.zone(zone))}"


def span(event: Event) -> Markup:
    """Start and end; the day only once if it is the same."""
    there = time_zones.zone(event.time_zone)
    same_day = event.starts_at.astimezone(there).date() == event.ends_at.astimezone(there).date()
    end = event.ends_at.astimezone(there).strftime("%H:%M") if same_day else local(event.ends_at, event.time_zone)
    return Markup("{} – {}").format(local(event.starts_at, event.time_zone), end)  # noqa: RUF001


def sold(categories: list[TicketCategory]) -> tuple[int, int]:
    return sum(one.quantity_sold for one in categories), sum(one.quantity_total for one in categories)


def price(category: TicketCategory) -> str:
    free = category.price_minor == 0
    return "Free" if free else f"{written(category.price_minor, category.currency)} {category.currency}"


def place(event: Event) -> str:
    country = countries().get(event.country, event.country) if event.country else None
    return ", ".join(part for part in (event.venue, event.city, country) if part)


# Variables of this section's templates, besides those of every page.
SHOWN: Final[dict[str, Any]] = {
    "local": local,
    "clock": clock,
    "span": span,
    "sold": sold,
    "price": price,
    "place": place,
    "tones": TONES,
    "findings": FINDINGS,
}
