"""Dates and times in forms, by the clock on the wall at the venue, and the moments that they stand for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from gatepass.base.errors import InvalidRequest
from gatepass.domain.events import time_zones
from gatepass.domain.events.time_zones import Fold
from gatepass.studio.web.forms import Form

DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
TIME: Final = re.compile(r"\d{2}:\d{2}(:\d{2})?", re.ASCII)

# The name of a moment is the beginning of its fields: `starts_date`, `starts_time`, `starts_which`.
OF_EVENT: Final = (("starts", "Starts"), ("ends", "Ends"), ("doors_open", "Doors open"))
OF_CATEGORY: Final = (("valid_from", "Good from"), ("valid_until", "Good until"))
HALF: Final = "Fill in the date and the time, or neither."


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


def readings(form: Form, wanted: Sequence[tuple[str, str]] = OF_EVENT, zone: str | None = None) -> list[TimeReading]:
    """For each moment that is filled in; by the clock of this time zone, or of the one in the form."""
    name = time_zones.found_zone(form.value("time_zone").strip()) if zone is None else zone
    if name is None:
        return []
    clock, found = time_zones.zone(name), list[TimeReading]()
    for side, label in wanted:
        day, hour = form.value(f"{side}_date").strip(), form.value(f"{side}_time").strip()
        if DAY.fullmatch(day) and TIME.fullmatch(hour):
            found.append(_read(form, side, label, f"{day}T{hour}", clock))
    return found


def read_moments(form: Form, found: Sequence[TimeReading], optional: Sequence[str]) -> dict[str, datetime]:
    """The moments that could be read, by name. What is wrong with the others is in the form, under `<name>_at`."""
    for one in found:
        if one.problem and not {f"{one.name}_date", f"{one.name}_time"} & form.errors.keys():
            form.errors[f"{one.name}_at"] = one.problem
    for name in optional:
        if bool(form.value(f"{name}_date").strip()) != bool(form.value(f"{name}_time").strip()):
            form.errors.setdefault(f"{name}_at", HALF)
    return {one.name: one.moment for one in found if one.moment}


def written_moment(name: str, moment: datetime | None, zone: str) -> dict[str, object]:
    """The fields of a moment."""
    if moment is None:
        return {}
    clock = time_zones.zone(zone)
    wall = time_zones.local_time(moment, clock)
    return {
        f"{name}_date": wall.date().isoformat(),
        f"{name}_time": wall.time().isoformat("minutes" if not wall.second else "seconds"),
        f"{name}_which": time_zones.fold_of(moment, clock),
    }


def _read(form: Form, side: str, label: str, wall: str, clock: ZoneInfo) -> TimeReading:
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


def _choices(moments: list[datetime], clock: ZoneInfo) -> tuple[TimeChoice, ...]:
    return tuple(
        TimeChoice(which, moment, time_zones.offset(moment, clock))
        for which, moment in zip(Fold, moments, strict=False)
    )
