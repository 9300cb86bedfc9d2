"""The subject of a pass: all that it tells of a card. `wallet_document` (document.sql beside it) reads it."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from gatepass.base.database import Tx
from gatepass.domain.card_look import TEAL

# A code that lies in a wallet is made anew this often, and is then valid for three times as long.
PERIOD: Final = timedelta(days=30)
LONGEST_CODE: Final = 3 * PERIOD
# The gates of an event that lasts longer than planned still take the code.
AFTER_THE_END: Final = timedelta(days=1)
PUBLISHED: Final = "published"


@dataclass(frozen=True, slots=True)
class PassEvent:
    """An event that the card has a ticket for, in the venue's time."""

    id: UUID
    title: str
    venue: str | None
    city: str | None
    starts_at: datetime
    ends_at: datetime
    category: str
    is_cancelled: bool
    phones_only: bool

    @classmethod
    def of(cls, found: dict[str, Any]) -> Self:
        zone = ZoneInfo(found["time_zone"])
        return cls(
            UUID(found["id"]), found["title"], found["venue"], found["city"],
            datetime.fromtimestamp(found["starts_at"], zone), datetime.fromtimestamp(found["ends_at"], zone),
            found["category"], found["status"] != PUBLISHED, found["codes"] == "phone",
        )  # fmt: skip

    @property
    def place(self) -> str:
        return ", ".join(part for part in (self.venue, self.city) if part)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a pass tells. One whose link has ended tells nothing but that."""

    organizer: str
    is_live: bool
    number: str
    status: str
    has_phone: bool
    events: tuple[PassEvent, ...]
    colour: str = TEAL

    @classmethod
    def of(cls, document: str) -> Self:
        found = json.loads(document)
        return cls(
            found["organizer"], found["live"], found["number"], found["status"], found["phone"],
            tuple(PassEvent.of(one) for one in found["events"]), found.get("colour", TEAL),
        )  # fmt: skip

    @property
    def coming(self) -> tuple[PassEvent, ...]:
        return tuple(event for event in self.events if not event.is_cancelled)

    def shows_code(self) -> bool:
        """A copy of the code must be of no use where phones make their own."""
        return (
            self.is_live
            and self.status == "active"
            and not self.has_phone
            and any(not event.phones_only for event in self.coming)
        )

    def shows_number(self) -> bool:
        """Where only phones' own codes count, a number invites people to try it."""
        return not any(event.phones_only for event in self.coming)

    def code_ends_at(self, at: datetime) -> datetime:
        """Until the day after the last event, and never for more than 90 days."""
        last = max(event.ends_at for event in self.coming)
        return min(last + AFTER_THE_END, period_of(at) + LONGEST_CODE)


def period_of(at: datetime) -> datetime:
    """The beginning of the period in which codes in wallets are the same."""
    return datetime.fromtimestamp(at.timestamp() // PERIOD.total_seconds() * PERIOD.total_seconds(), UTC)


async def read(tx: Tx, organization_id: UUID, card_id: UUID, link_hash: bytes, *, at: datetime) -> Subject | None:
    document = await tx.value(READ, organization_id, card_id, link_hash, at, period_of(at))
    return Subject.of(document) if document is not None else None


READ: Final = """
    SELECT wallet_document($1, $2, $3, $4, $5)::text
"""
