"""What every page of an event shows alike: times by the venue's clock, prices, states and their colours."""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from markupsafe import Markup
from starlette.responses import Response

from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import events, sandbox
from gatepass.domain.events import Event, EventStatus, Finding, Listing, TicketCategory, zones
from gatepass.domain.events.countries import COUNTRIES
from gatepass.domain.events.money import written
from gatepass.domain.keys import Mode
from gatepass.studio.visit import Visit

TONES: Final = {
    EventStatus.DRAFT: "calm",
    EventStatus.PUBLISHED: "good",
    EventStatus.CANCELLED: "bad",
    EventStatus.ENDED: "",
}
FINDINGS: Final = {
    Finding.OK: ("good", "circle-check", "Ready"),
    Finding.ADVICE: ("warn", "triangle-alert", "Advice"),
    Finding.MISSING: ("bad", "circle-alert", "Missing"),
}


def show(visit: Visit, template: str, *, status: int = 200, **facts: Any) -> Response:
    return visit.page(template, status=status, **SHOWN, **facts)


def live_only(visit: Visit, event_id: UUID | None = None) -> None:
    """The sandbox has one event, which nobody can change."""
    if visit.mode is Mode.SANDBOX:
        if event_id is not None:
            sandbox.find(event_id)
        raise NotAllowedFromHere("The sandbox has one event of its own, which always stays the same. Switch to live.")


async def open_event(visit: Visit, event_id: UUID) -> Listing:
    """One event of the organization, to be changed."""
    live_only(visit, event_id)
    async with visit.db.reading() as tx:
        return await events.find(tx, visit.organization_id, event_id)


def local(at: datetime, zone: str) -> Markup:
    """By the clock on the wall there: `Sat 14 Nov 2026, 19:30`."""
    exact = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    words = at.astimezone(zones.zone(zone)).strftime("%a %-d %b %Y, %H:%M")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, words)


def clock(at: datetime, zone: str) -> str:
    """Which clock that is: `Europe/Brussels, UTC+01:00`."""
    return zone if zone == "UTC" else f"{zone}, {zones.offset(at, zones.zone(zone))}"


def span(event: Event) -> Markup:
    """From when to when; the day only once if it is the same."""
    there = zones.zone(event.time_zone)
    same_day = event.starts_at.astimezone(there).date() == event.ends_at.astimezone(there).date()
    end = event.ends_at.astimezone(there).strftime("%H:%M") if same_day else local(event.ends_at, event.time_zone)
    return Markup("{} – {}").format(local(event.starts_at, event.time_zone), end)  # noqa: RUF001


def sold(categories: list[TicketCategory]) -> tuple[int, int]:
    return sum(one.quantity_sold for one in categories), sum(one.quantity_total for one in categories)


def price(category: TicketCategory) -> str:
    free = category.price_minor == 0
    return "Free" if free else f"{written(category.price_minor, category.currency)} {category.currency}"


def place(event: Event) -> str:
    country = COUNTRIES.get(event.country, event.country) if event.country else None
    return ", ".join(part for part in (event.venue, event.city, country) if part)


# What the templates of this section know besides the shell's own.
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
