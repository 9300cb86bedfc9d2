"""The template engine, its filters for times and numbers, and the URLs of static files."""

import hashlib
import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

HERE: Final = Path(__file__).parent.parent
STATIC: Final = HERE / "static"
ROOT: Final = "/studio"


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
        filters.update(moment=moment, second=second, day=day, number=number, ago=ago, plural=plural)

    def render(self, template: str, facts: dict[str, Any]) -> str:
        return self._templates.get_template(template).render(facts)


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


def moment(at: datetime | None, absent: str = "never") -> Markup | str:
    """A `<time>` element: `14 Nov 2026, 18:30 UTC`."""
    return absent if at is None else _time(at, at.astimezone(UTC).strftime("%-d %b %Y, %H:%M UTC"))


def second(at: datetime) -> Markup:
    """With seconds, for logs."""
    return _time(at, at.astimezone(UTC).strftime("%-d %b %Y, %H:%M:%S UTC"))


def day(at: datetime | None, absent: str = "never") -> Markup | str:
    return absent if at is None else _time(at, at.astimezone(UTC).strftime("%-d %b %Y"))


def ago(at: datetime | None, now: datetime, absent: str = "never") -> Markup | str:
    """How long ago, or in how long; the exact time is its tooltip."""
    if at is None:
        return absent
    seconds = (now - at).total_seconds()
    size, unit = _largest_unit(abs(seconds))
    words = "just now" if not size else f"{plural(size, unit)} ago" if seconds > 0 else f"in {plural(size, unit)}"
    return _time(at, words)


def _largest_unit(seconds: float) -> tuple[int, str]:
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return int(seconds // length), unit
    return 0, "second"


def _time(at: datetime, words: str) -> Markup:
    exact = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, words)


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
