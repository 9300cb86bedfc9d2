"""Forms of events: local times become moments, and every error is shown beside its field."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator

from gatepass.domain import events
from gatepass.domain.events import (
    CategoryDetails,
    Details,
    Event,
    EventCodes,
    OfflineAdmission,
    TicketCategory,
    time_zones,
)
from gatepass.domain.events.money import exact
from gatepass.domain.events.time_zones import Fold
from gatepass.studio.events.times import DAY, OF_CATEGORY, TIME, read_moments, readings, written_moment
from gatepass.studio.web.forms import Form, Line, LongText, OptionalLine

T = TypeVar("T")

PRICE: Final = re.compile(r"\d{1,13}([.,]\d{1,4})?", re.ASCII)
COUNT: Final = re.compile(r"\d{1,9}", re.ASCII)
# For a form whose start and end cannot be read.
STAND_IN: Final = datetime(2030, 1, 1, tzinfo=UTC)


def _strictly(pattern: re.Pattern[str], make: Callable[[str], T], sentence: str, *, optional: bool = False) -> Any:
    """A validator for the exact format that a browser's field sends."""

    def read(text: object) -> T | None:
        if optional and text == "":
            return None
        if not isinstance(text, str) or not pattern.fullmatch(text.strip()):
            raise ValueError(sentence)
        try:
            return make(text.strip())
        except (ValueError, InvalidOperation):
            raise ValueError(sentence) from None

    return BeforeValidator(read)


Day = Annotated[date, _strictly(DAY, date.fromisoformat, "This is not a date.")]
Time = Annotated[time, _strictly(TIME, time.fromisoformat, "This is not a time.")]
OptionalDay = Annotated[date | None, _strictly(DAY, date.fromisoformat, "This is not a date.", optional=True)]
OptionalTime = Annotated[time | None, _strictly(TIME, time.fromisoformat, "This is not a time.", optional=True)]
Price = Annotated[
    Decimal,
    _strictly(PRICE, lambda text: Decimal(text.replace(",", ".")), "Write the price as a number, 0 or more: 25.50."),
]
Count = Annotated[int, _strictly(COUNT, int, "Write a whole number, 0 or more.")]


class EventForm(BaseModel):
    title: Line
    time_zone: Line
    starts_date: Day
    starts_time: Time
    ends_date: Day
    ends_time: Time
    starts_which: Fold | None = None
    ends_which: Fold | None = None
    description: LongText = ""
    venue: OptionalLine = ""
    city: OptionalLine = ""
    country: OptionalLine = ""
    codes: EventCodes = EventCodes.ANY
    doors_open_date: OptionalDay = None
    doors_open_time: OptionalTime = None
    doors_open_which: Fold | None = None
    offline: OfflineAdmission = OfflineAdmission.MANIFEST


class PriceForm(BaseModel):
    price: Price


class CategoryForm(PriceForm):
    name: Line
    tier: Line = "standard"
    currency: Line
    quantity_total: Count
    valid_from_date: OptionalDay = None
    valid_from_time: OptionalTime = None
    valid_from_which: Fold | None = None
    valid_until_date: OptionalDay = None
    valid_until_time: OptionalTime = None
    valid_until_which: Fold | None = None
    gates: LongText = ""


class DuplicateForm(BaseModel):
    title: Line
    every: Count
    unit: Literal["days", "weeks"]


def read_details(form: Form) -> Details | None:
    """The details of the form, without the cover. None if there are errors; they are in the form."""
    form.read(EventForm)
    moments = read_moments(form, readings(form), optional=["doors_open"])
    # Where one is missing the other stands in for it, so that what else is wrong is said at once too.
    starts_at = moments.get("starts") or moments.get("ends", STAND_IN) - timedelta(hours=1)
    text = {
        name: form.value(name).strip() for name in ("title", "time_zone", "description", "venue", "city", "country")
    }
    details = Details(
        text["title"], starts_at, moments.get("ends") or starts_at + timedelta(hours=1),
        time_zones.found_zone(text["time_zone"]) or text["time_zone"],
        text["description"].replace("\r\n", "\n") or None,
        text["venue"] or None, text["city"] or None, text["country"] or None,
        codes=EventCodes.PHONE if form.value("codes") == EventCodes.PHONE else EventCodes.ANY,
        doors_open_at=moments.get("doors_open"),
        offline=_chosen(form),
    )  # fmt: skip
    form.errors = events.problems(details) | form.errors
    return None if form.errors else details


def _chosen(form: Form) -> OfflineAdmission:
    text = form.value("offline")
    return OfflineAdmission(text) if text in tuple(OfflineAdmission) else OfflineAdmission.MANIFEST


def written_details(event: Event) -> Form:
    """The form filled with the event as it is."""
    fields: dict[str, object] = {}
    for name, moment in (("starts", event.starts_at), ("ends", event.ends_at), ("doors_open", event.doors_open_at)):
        fields |= written_moment(name, moment, event.time_zone)
    return Form.of(
        title=event.title, description=event.description, venue=event.venue, city=event.city, country=event.country,
        time_zone=event.time_zone, codes=event.codes, offline=event.offline, **fields,
    )  # fmt: skip


def read_offer(form: Form, zone: str) -> CategoryDetails | None:
    """The category of the form, its times by the clock of this time zone. None if there are errors."""
    typed, priced = form.read(CategoryForm), form.read(PriceForm)
    moments = read_moments(form, readings(form, OF_CATEGORY, zone), optional=["valid_from", "valid_until"])
    offer = CategoryDetails(
        form.value("name").strip(),
        priced.price if priced else Decimal(0),
        form.value("currency").strip(),
        typed.quantity_total if typed else 0,
        form.value("tier").strip() or "standard",
        moments.get("valid_from"),
        moments.get("valid_until"),
        [name for line in form.value("gates").splitlines() if (name := line.strip())] or None,
    )
    found = events.category_problems(offer)
    form.errors = {f"{name}_at" if name in moments else name: text for name, text in found.items()} | form.errors
    return None if form.errors else offer


def written_offer(category: TicketCategory, zone: str) -> Form:
    """The form filled with the category as it is."""
    price = exact(category.price_minor, category.currency)
    window = written_moment("valid_from", category.valid_from, zone)
    window |= written_moment("valid_until", category.valid_until, zone)
    return Form.of(
        name=category.name, tier=category.tier, price=f"{price:f}", currency=category.currency,
        quantity_total=category.quantity_total, gates="\n".join(category.gates or ()), **window,
    )  # fmt: skip
