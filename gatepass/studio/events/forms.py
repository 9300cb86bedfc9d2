"""Forms of events: local times become moments, and every error is shown beside its field."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator

from gatepass.base.errors import InvalidRequest
from gatepass.domain import events
from gatepass.domain.events import CategoryDetails, Details, Event, TicketCategory, time_zones
from gatepass.domain.events.money import exact
from gatepass.domain.events.time_zones import Fold
from gatepass.studio.web.forms import Form, Line, LongText, OptionalLine

T = TypeVar("T")

DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
TIME: Final = re.compile(r"\d{2}:\d{2}(:\d{2})?", re.ASCII)
PRICE: Final = re.compile(r"\d{1,13}([.,]\d{1,4})?", re.ASCII)
COUNT: Final = re.compile(r"\d{1,9}", re.ASCII)
# For a form whose start and end cannot be read.
STAND_IN: Final = datetime(2030, 1, 1, tzinfo=UTC)


def _strictly(pattern: re.Pattern[str], make: Callable[[str], T], sentence: str) -> Any:
    """A validator for the exact format that a browser's field sends."""

    def read(text: object) -> T:
        if not isinstance(text, str) or not pattern.fullmatch(text.strip()):
            raise ValueError(sentence)
        try:
            return make(text.strip())
        except (ValueError, InvalidOperation):
            raise ValueError(sentence) from None

    return BeforeValidator(read)


Day = Annotated[date, _strictly(DAY, date.fromisoformat, "This is not a date.")]
Time = Annotated[time, _strictly(TIME, time.fromisoformat, "This is not a time.")]
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


class PriceForm(BaseModel):
    price: Price


class CategoryForm(PriceForm):
    name: Line
    tier: Line = "standard"
    currency: Line
    quantity_total: Count


class DuplicateForm(BaseModel):
    title: Line
    every: Count
    unit: Literal["days", "weeks"]


def read_details(form: Form) -> Details | None:
    """The details of the form, without the cover. None if there are errors; they are in the form."""
    form.read(EventForm)
    readable = {reading.name: reading for reading in readings(form)}
    for name, reading in readable.items():
        if reading.problem and not {f"{name}_date", f"{name}_time"} & form.errors.keys():
            form.errors[f"{name}_at"] = reading.problem
    # Where one is missing the other stands in for it, so that what else is wrong is said at once too.
    moments = {name: reading.moment for name, reading in readable.items() if reading.moment}
    starts_at = moments.get("starts") or moments.get("ends", STAND_IN) - timedelta(hours=1)
    text = {
        name: form.value(name).strip() for name in ("title", "time_zone", "description", "venue", "city", "country")
    }
    details = Details(
        text["title"], starts_at, moments.get("ends") or starts_at + timedelta(hours=1),
        time_zones.found_zone(text["time_zone"]) or text["time_zone"],
        text["description"].replace("\r\n", "\n") or None,
        text["venue"] or None, text["city"] or None, text["country"] or None,
    )  # fmt: skip
    form.errors = events.problems(details) | form.errors
    return None if form.errors else details


def written_details(event: Event) -> Form:
    """The form filled with the event as it is."""
    clock = time_zones.zone(event.time_zone)
    fields: dict[str, object] = {}
    for name, moment in (("starts", event.starts_at), ("ends", event.ends_at)):
        wall = time_zones.local_time(moment, clock)
        fields |= {
            f"{name}_date": wall.date().isoformat(),
            f"{name}_time": wall.time().isoformat("minutes" if not wall.second else "seconds"),
            f"{name}_which": time_zones.fold_of(moment, clock),
        }
    return Form.of(
        title=event.title, description=event.description, venue=event.venue, city=event.city, country=event.country,
        time_zone=event.time_zone, **fields,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeChoice:
    which: Fold
    moment: datetime
    offset: str


@dataclass(frozen=True, slots=True)
class TimeReading:
    """The moment of a date and a time in a form. `choices` are the two moments of an ambiguous local time."""

    name: str
    label: str
    moment: datetime | None = None
    problem: str | None = None
    choices: tuple[TimeChoice, ...] = ()
    which: Fold | None = None


def readings(form: Form) -> list[TimeReading]:
    """For the start and the end, as far as they are filled in."""
    name = time_zones.found_zone(form.value("time_zone").strip())
    if name is None:
        return []
    clock, found = time_zones.zone(name), list[TimeReading]()
    for side, label in (("starts", "Starts"), ("ends", "Ends")):
        day, hour = form.value(f"{side}_date").strip(), form.value(f"{side}_time").strip()
        if DAY.fullmatch(day) and TIME.fullmatch(hour):
            found.append(_read(form, side, label, f"{day}T{hour}", clock))
    return found


def _read(form: Form, side: str, label: str, wall: str, clock: time_zones.ZoneInfo) -> TimeReading:
    which = Fold(typed) if (typed := form.value(f"{side}_which")) in tuple(Fold) else None
    try:
        moment = time_zones.to_moment(datetime.fromisoformat(wall), clock, which, param=side)
    except InvalidRequest as refusal:
        moments = refusal.details.get("choices", ())
        return TimeReading(side, label, problem=str(refusal), choices=_choices(moments, clock))
    except ValueError:
        return TimeReading(side, label, problem="There is no such day or time.")
    both = time_zones.moments(time_zones.local_time(moment, clock), clock)
    return TimeReading(side, label, moment, choices=_choices(both, clock) if len(both) > 1 else (), which=which)


def _choices(moments: list[datetime], clock: time_zones.ZoneInfo) -> tuple[TimeChoice, ...]:
    return tuple(
        TimeChoice(which, moment, time_zones.offset(moment, clock))
        for which, moment in zip(Fold, moments, strict=False)
    )


def read_offer(form: Form) -> CategoryDetails | None:
    typed, priced = form.read(CategoryForm), form.read(PriceForm)
    offer = CategoryDetails(
        form.value("name").strip(),
        priced.price if priced else Decimal(0),
        form.value("currency").strip(),
        typed.quantity_total if typed else 0,
        form.value("tier").strip() or "standard",
    )
    form.errors = events.category_problems(offer) | form.errors
    return None if form.errors else offer


def written_offer(category: TicketCategory) -> Form:
    price = exact(category.price_minor, category.currency)
    return Form.of(
        name=category.name, tier=category.tier, price=f"{price:f}", currency=category.currency,
        quantity_total=category.quantity_total,
    )  # fmt: skip
