"""The details of an event that its organizer writes, and their validation. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

from gatepass.base.errors import InvalidRequest
from gatepass.domain.cell import with_letter
from gatepass.domain.events.countries import countries
from gatepass.domain.events.event import Event, EventCodes, OfflineAdmission
from gatepass.domain.events.time_zones import FIRST_YEAR, LAST_YEAR, UNKNOWN, known_zones

# In code points, as PostgreSQL counts them.
LONGEST: Final = {"title": 200, "description": 10_000, "venue": 200, "city": 200, "cover_url": 2000}
# A cover that was uploaded here.
COVERS: Final = "/covers/"
OWN_COVER: Final = re.compile(COVERS + r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(?:png|jpg|webp)", re.ASCII)
COVER_URL: Final = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?#][!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]*)?")
# Nobody types these. PostgreSQL cannot store the first and the last; the others hide or reorder text.
UNWANTED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Details:
    title: str
    starts_at: datetime
    ends_at: datetime
    time_zone: str = "UTC"
    description: str | None = None
    venue: str | None = None
    city: str | None = None
    country: str | None = None
    cover_url: str | None = None
    codes: EventCodes = EventCodes.ANY
    doors_open_at: datetime | None = None
    offline: OfflineAdmission = OfflineAdmission.MANIFEST

    @classmethod
    def of(cls, event: Event) -> "Details":
        """The present details of this event."""
        return cls(**{one.name: getattr(event, one.name) for one in fields(cls)})


def problems(details: Details) -> dict[str, str]:
    """The first problem of each field."""
    found: dict[str, str] = {}
    for field, sentence in _problems(details):
        found.setdefault(field, sentence)
    return found


def require(details: Details) -> None:
    for field, sentence in _problems(details):
        raise InvalidRequest(sentence, param=field)


def text_problem(text: str, longest: int) -> str | None:
    """Why this text cannot be stored."""
    if len(text) > longest:
        return f"At most {longest:,} characters."
    return "It holds characters that cannot be kept." if UNWANTED.search(text) else None


def _problems(details: Details) -> Iterator[tuple[str, str]]:
    if not details.title.strip():
        yield "title", "An event has a title."
    for field, longest in LONGEST.items():
        text: str | None = getattr(details, field)
        problem = text_problem(text, longest) if text is not None else None
        if problem:
            yield field, problem
    if details.country is not None and details.country not in countries():
        yield "country", "A country is two capital letters, as in ISO 3166-1."
    if details.time_zone not in known_zones():
        yield "time_zone", UNKNOWN
    if details.cover_url is not None and not is_cover(details.cover_url):
        yield "cover_url", "A picture's address begins with https:// and has no spaces in it."
    yield from _time_problems(details)


def _time_problems(details: Details) -> Iterator[tuple[str, str]]:
    for field in ("starts_at", "ends_at", "doors_open_at"):
        if (problem := year_problem(getattr(details, field))) is not None:
            yield field, problem
    if not details.starts_at < details.ends_at:
        yield "ends_at", "An event starts before it ends."
    if details.doors_open_at is not None and not details.doors_open_at < details.ends_at:
        yield "doors_open_at", "The doors open before the event ends."


def year_problem(moment: datetime | None) -> str | None:
    """Why this moment was surely mistyped."""
    if moment is None or FIRST_YEAR - 1 <= moment.year <= LAST_YEAR + 1:
        return None
    return f"The year must be from {FIRST_YEAR} to {LAST_YEAR}."


def is_cover(url: str) -> bool:
    return OWN_COVER.fullmatch(url) is not None or COVER_URL.fullmatch(url) is not None


def cover_address(cover_url: str | None, public_url: str, cell: str) -> str | None:
    """The public URL of the picture. An uploaded one is stored as a bare path, so that domain and cell may change."""
    if cover_url is None or not cover_url.startswith(COVERS):
        return cover_url
    return public_url + COVERS + with_letter(cell, cover_url.removeprefix(COVERS))
