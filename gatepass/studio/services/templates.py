"""The template engine, its filters for times and numbers, and the URLs of static files."""

import hashlib
import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context as Facts
from markupsafe import Markup

HERE: Final = Path(__file__).parent.parent
STATIC: Final = HERE / "static"
ROOT: Final = "/studio"
# Where the sections are: organization and mode stand in the address of each of their pages, forms and streams.
SECTIONS: Final = ROOT + "/o/{organization}/{mode}"


class Templates:
    """All values are escaped. An unknown variable is an error, not an empty text."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(static=static_url, icon=icon)
        filters: dict[str, Any] = self._templates.filters
        filters.update(moment=moment, second=second, day=day, wall=wall, number=number, ago=ago, plural=plural)

    def render(self, template: str, facts: dict[str, Any]) -> str:
        return self._templates.get_template(template).render(facts)


def root_of(organization_id: UUID, mode: str) -> str:
    """The beginning of the address of every page of this organization in this mode."""
    return SECTIONS.format(organization=organization_id, mode=mode)


@cache
def static_url(name: str) -> str:
    """The URL of a file with a hash of its content, so that browsers may cache it for good."""
    version = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"{ROOT}/static/{name}?v={version}"


@cache
def icon(name: str) -> Markup:
    """An inline SVG, hidden from screen readers: the words beside it say what it means."""
    text = (STATIC / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    return Markup(text.replace("<svg", '<svg aria-hidden="true"', 1))  # noqa: S704  our own file


@pass_context
def moment(page: Facts, at: datetime | None, absent: str = "never", zone: str | None = None) -> Markup | str:
    """A `<time>` element in the zone of the page: `14 Nov 2026, 19:30`. UTC is its tooltip."""
    return absent if at is None else wall(page, at, "%-d %b %Y, %H:%M", zone)


@pass_context
def second(page: Facts, at: datetime) -> Markup:
    """With seconds, for logs."""
    return wall(page, at, "%-d %b %Y, %H:%M:%S")


@pass_context
def day(page: Facts, at: datetime | None, absent: str = "never") -> Markup | str:
    return absent if at is None else time_element(at, at.astimezone(ZoneInfo(_zone(page))).strftime("%-d %b %Y"))


@pass_context
def wall(page: Facts, at: datetime, form: str, zone: str | None = None) -> Markup:
    """What a clock on the wall shows, in the form of `strftime`."""
    return time_element(at, wall_text(at, form, zone or _zone(page)))


def wall_text(at: datetime, form: str, zone: str) -> str:
    """UTC is named, since nobody expects it."""
    return at.astimezone(ZoneInfo(zone)).strftime(form) + (" UTC" if zone == "UTC" else "")


def _zone(page: Facts) -> str:
    """Pages without a session have no zone of their own."""
    return page.get("zone") or "UTC"


def ago(at: datetime | None, now: datetime, absent: str = "never") -> Markup | str:
    """How long ago, or in how long; the exact time is its tooltip."""
    if at is None:
        return absent
    seconds = (now - at).total_seconds()
    size, unit = _largest_unit(abs(seconds))
    words = "just now" if not size else f"{plural(size, unit)} ago" if seconds > 0 else f"in {plural(size, unit)}"
    return time_element(at, words)


def _largest_unit(seconds: float) -> tuple[int, str]:
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return int(seconds // length), unit
    return 0, "second"


def time_element(at: datetime, words: str) -> Markup:
    there = at.astimezone(UTC)
    exact, spoken = there.strftime("%Y-%m-%dT%H:%M:%SZ"), there.strftime("%-d %b %Y, %H:%M:%S UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, spoken, words)


def indented_json(text: str) -> str:
    """JSON with indentation. Text that is not JSON stays as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def number(value: float) -> str:
    return f"{value:,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
