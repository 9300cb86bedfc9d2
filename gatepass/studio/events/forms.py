"""Reading the forms of events: local times become moments, and whatever is wrong is said beside its field."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator

from gatepass.base.refusals import InvalidRequest
from gatepass.domain import events
from gatepass.domain.events import Details, Event, Offer, TicketCategory, zones
from gatepass.domain.events.money import exact
from gatepass.domain.events.zones import Which
from gatepass.studio.form import Form, Line, LongText, OptionalLine

T = TypeVar("T")

DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
TIME: Final = re.compile(r"\d{2}:\d{2}(:\d{2})?", re.ASCII)
PRICE: Final = re.compile(r"\d{1,13}([.,]\d{1,4})?", re.ASCII)
COUNT: Final = re.compile(r"\d{1,9}", re.ASCII)


def _strictly(pattern: re.Pattern[str], make: Callable[[str], T], sentence: str) -> Any:
    """What a browser's own field sends, and nothing that merely resembles it."""

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
    Decimal, _strictly(PRICE, lambda text: Decimal(text.replace(",", ".")), "Write the price as a number: 25.50.")
]
Count = Annotated[int, _strictly(COUNT, int, "This is not a whole number.")]


class EventForm(BaseModel):
    title: Line
    time_zone: Line
    starts_date: Day
    starts_time: Time
    ends_date: Day
    ends_time: Time
    starts_which: Which | None = None
    ends_which: Which | None = None
    description: LongText = ""
    venue: OptionalLine = ""
    city: OptionalLine = ""
    country: OptionalLine = ""


class CategoryForm(BaseModel):
    name: Line
    tier: Line = "standard"
    price: Price
    currency: Line
    quantity_total: Count


class DuplicateForm(BaseModel):
    title: Line
    every: Count
    unit: Literal["days", "weeks"]


def read_details(form: Form) -> Details | None:
    """What the form says, all but the cover, or nothing, and then its errors say why."""
    said = form.read(EventForm)
    if said is not None and said.time_zone not in zones.known_zones():
        form.errors["time_zone"] = zones.UNKNOWN
    moments = {reading.name: reading for reading in readings(form)}
    for name, reading in moments.items():
        if reading.problem and not {"time_zone", f"{name}_date", f"{name}_time"} & form.errors.keys():
            form.errors[f"{name}_at"] = reading.problem
    if said is None or form.errors:
        return None
    starts_at, ends_at = moments["starts"].moment, moments["ends"].moment
    assert starts_at is not None  # noqa: S101  else there would be a problem
    assert ends_at is not None  # noqa: S101
    details = Details(
        said.title, starts_at, ends_at, said.time_zone, said.description.replace("\r\n", "\n") or None,
        said.venue or None, said.city or None, said.country or None,
    )  # fmt: skip
    form.errors |= events.problems(details)
    return None if form.errors else details


def written_details(event: Event) -> Form:
    """A form that says what is so now."""
    clock = zones.zone(event.time_zone)
    fields: dict[str, object] = {}
    for name, moment in (("starts", event.starts_at), ("ends", event.ends_at)):
        wall = zones.on_the_wall(moment, clock)
        fields |= {
            f"{name}_date": wall.date().isoformat(),
            f"{name}_time": wall.time().isoformat("minutes" if not wall.second else "seconds"),
            f"{name}_which": zones.which_of(moment, clock),
        }
    return Form.of(
        title=event.title, description=event.description, venue=event.venue, city=event.city, country=event.country,
        time_zone=event.time_zone, **fields,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    which: Which
    moment: datetime
    offset: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a date and a time in a form stand for. `choices` are the two moments of a time that comes twice."""

    name: str
    label: str
    moment: datetime | None = None
    problem: str | None = None
    choices: tuple[Choice, ...] = ()
    which: Which | None = None


def readings(form: Form) -> list[Reading]:
    """Of the start and of the end, as far as they are filled in."""
    name = form.value("time_zone").strip()
    if name not in zones.known_zones():
        return []
    clock, found = zones.zone(name), list[Reading]()
    for side, label in (("starts", "Starts"), ("ends", "Ends")):
        day, hour = form.value(f"{side}_date").strip(), form.value(f"{side}_time").strip()
        if DAY.fullmatch(day) and TIME.fullmatch(hour):
            found.append(_read(form, side, label, f"{day}T{hour}", clock))
    return found


def _read(form: Form, side: str, label: str, wall: str, clock: zones.ZoneInfo) -> Reading:
    which = Which(said) if (said := form.value(f"{side}_which")) in tuple(Which) else None
    try:
        moment = zones.moment_of(datetime.fromisoformat(wall), clock, which, param=side)
    except InvalidRequest as refusal:
        asked = refusal.details.get("choices", ())
        return Reading(side, label, problem=str(refusal), choices=_choices(asked, clock))
    except ValueError:
        return Reading(side, label, problem="There is no such day or time.")
    both = zones.moments(zones.on_the_wall(moment, clock), clock)
    return Reading(side, label, moment, choices=_choices(both, clock) if len(both) > 1 else (), which=which)


def _choices(moments: list[datetime], clock: zones.ZoneInfo) -> tuple[Choice, ...]:
    return tuple(
        Choice(which, moment, zones.offset(moment, clock)) for which, moment in zip(Which, moments, strict=False)
    )


def read_offer(form: Form) -> Offer | None:
    said = form.read(CategoryForm)
    if said is None:
        return None
    offer = Offer(said.name, said.price, said.currency, said.quantity_total, said.tier)
    form.errors |= events.offer_problems(offer)
    return None if form.errors else offer


def written_offer(category: TicketCategory) -> Form:
    price = exact(category.price_minor, category.currency)
    return Form.of(
        name=category.name, tier=category.tier, price=f"{price:f}", currency=category.currency,
        quantity_total=category.quantity_total,
    )  # fmt: skip
