"""An incident: what happened at a door disagrees with the record.

Somebody who was let in is inside, whatever the record says. So an admission never becomes a refusal: it opens an
incident, which people see, explain and close.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

from gatepass.base.errors import Refusal
from gatepass.domain.visibility import NUMBER, WORDS, Columns

# The subject of audit entries.
SUBJECT: Final = "incident"


class IncidentKind(StrEnum):
    """In the order in which people want to see them."""

    DUPLICATE = "duplicate"
    REVOKED_MEANWHILE = "revoked_meanwhile"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"
    UNKNOWN_CARD = "unknown_card"
    NO_TICKET = "no_ticket"
    EXPIRED = "expired"
    OUTSIDE_WINDOW = "outside_window"
    WRONG_GATE = "wrong_gate"
    OVERRIDE = "override"


# What each kind means, for people.
MEANINGS: Final[dict[IncidentKind, str]] = {
    IncidentKind.DUPLICATE: "A second admission of the same ticket.",
    IncidentKind.REVOKED_MEANWHILE: "The card is revoked.",
    IncidentKind.SUSPENDED: "The card is suspended.",
    IncidentKind.CANCELLED: "The ticket, or the whole event, is cancelled.",
    IncidentKind.UNKNOWN_CARD: "The card is none of yours, or its code was not signed by you.",
    IncidentKind.NO_TICKET: "The card has no ticket for this event.",
    IncidentKind.EXPIRED: "The code had expired, or was not of the kind that this event wants.",
    IncidentKind.OUTSIDE_WINDOW: "Before the doors opened, after the end, or outside the times of the category.",
    IncidentKind.WRONG_GATE: "The category does not open this gate.",
    IncidentKind.OVERRIDE: "A person let somebody in, or a device that was not to be relied on.",
}


class IncidentNotFound(Refusal):
    """There is no such incident."""

    code = "incident_not_found"


@dataclass(frozen=True, slots=True)
class FirstAdmission:
    """The first admission of a ticket: the one that came to us first, whatever the clocks of the devices say."""

    gate: str | None
    device_id: UUID | None
    scanner_id: str | None
    occurred_at: datetime | None
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Incident:
    """`occurred_at` is the device's time, `corrected_at` the same by our clock, `received_at` when we heard of it."""

    guest: ClassVar[Columns] = {"card_number": NUMBER, "reason": WORDS, "note": WORDS}

    id: UUID
    event_id: UUID
    kind: IncidentKind
    ticket_id: UUID | None
    card_id: UUID | None
    card_number: str | None
    gate: str | None
    device_id: UUID | None
    device_name: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    corrected_at: datetime | None
    received_at: datetime
    first_gate: str | None
    first_device_id: UUID | None
    first_device_name: str | None
    first_scanner_id: str | None
    first_occurred_at: datetime | None
    first_received_at: datetime | None
    reason: str | None
    opened_by: str | None
    closed_at: datetime | None
    closed_by: str | None
    note: str | None

    @property
    def first(self) -> FirstAdmission | None:
        if self.first_received_at is None:
            return None
        return FirstAdmission(
            self.first_gate, self.first_device_id, self.first_scanner_id, self.first_occurred_at, self.first_received_at
        )

    @property
    def is_open(self) -> bool:
        return self.closed_at is None
