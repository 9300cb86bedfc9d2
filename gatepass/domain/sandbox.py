"""The sandbox: a fictional event and five cards with fixed verdicts. Pure; it reads no table."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.paging import Place
from gatepass.base.wire_constants import TOKEN_PREFIX
from gatepass.domain.cards import (
    INVALID,
    Card,
    CardNotFound,
    CardRevoked,
    CardStatus,
    Expired,
    InvalidToken,
    Verification,
    standing,
)
from gatepass.domain.events import CatalogueEntry, Event, EventNotFound, EventStatus, TicketCategory

EVENT_ID: Final = UUID("00000000-0000-0000-0000-00000000e7e7")
TOKEN: Final = re.compile(rf"{TOKEN_PREFIX}\.([A-Z_]{{1,32}})\.0\.0", re.ASCII)
ISSUED_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
USED_AT: Final = datetime(2026, 1, 1, 18, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SandboxVerdict:
    """A fixed verdict, which `activation.sql` takes as it is."""

    verdict: str
    ticket_id: UUID | None = None
    tier: str | None = None
    category_name: str | None = None
    first_at: datetime | None = None

    def as_json(self) -> str:
        return json.dumps(
            {
                "verdict": self.verdict,
                "ticket_id": str(self.ticket_id) if self.ticket_id else None,
                "tier": self.tier,
                "category_name": self.category_name,
                "first_at": rfc3339(self.first_at) if self.first_at else None,
            }
        )


def _id(last: int) -> UUID:
    return UUID(f"00000000-0000-0000-0000-{last:012x}")


CATALOGUE_ENTRY: Final = CatalogueEntry(
    Event(
        id=EVENT_ID,
        title="Sandbox Night",
        description="A fictional event for trying the API. Scan TEST_VALID.",
        venue="Sandbox Hall",
        city="Brussels",
        country="BE",
        starts_at=datetime(2030, 6, 15, 18, tzinfo=UTC),
        ends_at=datetime(2030, 6, 15, 23, tzinfo=UTC),
        cover_url=None,
        status=EventStatus.PUBLISHED,
        time_zone="Europe/Brussels",
        updated_at=ISSUED_AT,
    ),
    [
        TicketCategory(_id(0xCA1), EVENT_ID, "General", "standard", 2550, "EUR", 1000, 400, ISSUED_AT),
        TicketCategory(_id(0xCA2), EVENT_ID, "VIP", "vip", 9900, "EUR", 100, 40, ISSUED_AT),
    ],
)

CARDS: Final = {
    "TEST_VALID": SandboxVerdict("activated", _id(0x71), "standard", "General"),
    "TEST_VIP": SandboxVerdict("activated", _id(0x72), "vip", "VIP"),
    "TEST_USED": SandboxVerdict("already_activated", _id(0x73), "standard", "General", USED_AT),
    "TEST_EXPIRED": SandboxVerdict(Expired.code),
    "TEST_REVOKED": SandboxVerdict(CardRevoked.code),
}
CARD_IDS: Final = {name: _id(0xC1 + place) for place, name in enumerate(CARDS)}


def published(after: Place | None) -> list[CatalogueEntry]:
    """The list of events: one, unless the page begins after it."""
    event = CATALOGUE_ENTRY.event
    return [CATALOGUE_ENTRY] if after is None or (after.at, after.id) < (event.starts_at, event.id) else []


def find(event_id: UUID) -> CatalogueEntry:
    if event_id != EVENT_ID:
        raise EventNotFound
    return CATALOGUE_ENTRY


def judge(event_id: UUID, card_number: str) -> SandboxVerdict:
    """The verdict on a scan in the sandbox."""
    if event_id != EVENT_ID:
        return SandboxVerdict(EventNotFound.code)
    return CARDS.get(card_number.strip().upper(), SandboxVerdict(CardNotFound.code))


def read_token(text: str) -> str:
    """The card that a sandbox token names."""
    found = TOKEN.fullmatch(text)
    if found is None:
        raise InvalidToken
    return found[1]


def verify(text: str) -> Verification:
    found = TOKEN.fullmatch(text)
    name = found[1] if found else ""
    if name not in CARDS:
        return INVALID
    status = CardStatus.REVOKED if name == "TEST_REVOKED" else CardStatus.ACTIVE
    card = Card(CARD_IDS[name], name, status, ISSUED_AT)
    return standing(card, expired=name == "TEST_EXPIRED")
