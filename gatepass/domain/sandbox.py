"""The fictional event of the sandbox, and eight test cards with fixed verdicts. Pure; it reads no table."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.paging import Place
from gatepass.base.wire_constants import TOKEN_PREFIX
from gatepass.domain.cards import (
    Card,
    CardNotFound,
    CardRevoked,
    CardStatus,
    CardSuspended,
    Expired,
    Verification,
    normalize_number,
    standing,
)
from gatepass.domain.events import CatalogueEntry, Event, EventStatus, TicketCategory

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

    def facts(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "ticket_id": self.ticket_id,
            "tier": self.tier,
            "category_name": self.category_name,
            "first_at": rfc3339(self.first_at) if self.first_at else None,
        }


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
    "TEST_SUSPENDED": SandboxVerdict(CardSuspended.code),
    "TEST_NO_TICKET": SandboxVerdict("ticket_not_found"),
    "TEST_CANCELLED": SandboxVerdict("ticket_cancelled"),
}
STATUSES: Final = {"TEST_REVOKED": CardStatus.REVOKED, "TEST_SUSPENDED": CardStatus.SUSPENDED}
CARD_IDS: Final = {name: _id(0xC1 + place) for place, name in enumerate(CARDS)}


def among(others: list[CatalogueEntry], after: Place | None) -> list[CatalogueEntry]:
    """A page of published events with the fictional one at its place, unless the page begins after it."""
    if after is not None and (after.at, after.id) >= _place(CATALOGUE_ENTRY):
        return others
    return sorted([*others, CATALOGUE_ENTRY], key=_place)


def _place(listing: CatalogueEntry) -> tuple[datetime, UUID]:
    return listing.event.starts_at, listing.event.id


def judge(card_number: str) -> SandboxVerdict:
    """The verdict on a scan for the fictional event."""
    return CARDS.get(card_number, SandboxVerdict(CardNotFound.code))


def typed_card(typed: str) -> str:
    """The card that was typed for the fictional event, in the form that messages name it by, as for other events."""
    name = typed.strip().upper()
    return name if name in CARDS else normalize_number(typed)


def named_card(token: str) -> str | None:
    """The card that an unsigned token names; there may be none of this name."""
    found = TOKEN.fullmatch(token)
    return found[1] if found else None


def test_card(token: str) -> str | None:
    """The test card that an unsigned token names, if it is one."""
    name = named_card(token)
    return name if name in CARDS else None


def verify(name: str) -> Verification:
    card = Card(CARD_IDS[name], name, STATUSES.get(name, CardStatus.ACTIVE), ISSUED_AT)
    return standing(card, expired=name == "TEST_EXPIRED")
