"""What stands on a printed card, and the sizes that it is printed in."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo


class Layout(StrEnum):
    """A4 is ten cards with cut marks; CARD and BADGE are one on each page; PAGE is one large card on A4."""

    A4 = "a4"
    CARD = "card"
    BADGE = "badge"
    PAGE = "page"

    @property
    def cards_a_page(self) -> int:
        return 10 if self is Layout.A4 else 1


@dataclass(frozen=True, slots=True)
class PrintedEvent:
    """`when` is the venue's time. None of these may be empty but the venue."""

    title: str
    when: str
    venue: str


@dataclass(frozen=True, slots=True)
class PrintedCard:
    """Without a token no code is drawn: the event takes only the codes of phones."""

    number: str
    category: str
    name: str
    token: str | None = field(repr=False)


def venue_time(starts_at: datetime, zone: str) -> str:
    """Such as `Sat 21 Nov 2026, 19:30`."""
    local = starts_at.astimezone(ZoneInfo(zone))
    return f"{local:%a} {local.day} {local:%b %Y, %H:%M}"
