"""An event and its ticket categories; the transitions between its statuses."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.clock import EPOCH
from gatepass.base.errors import Refusal

# Events run late; a gate must not find one ended because of that.
GRACE: Final = timedelta(hours=6)


class EventStatus(StrEnum):
    DRAFT = "draft"
    PUBLISHED = "published"
    CANCELLED = "cancelled"
    ENDED = "ended"


class EventCodes(StrEnum):
    """The codes that open an event. `phone`: only those that a phone made a moment ago, and nobody can lend."""

    ANY = "any"
    PHONE = "phone"


class OfflineAdmission(StrEnum):
    """Whom a device admits while it has no network: whom its manifest knows, any good signature, or nobody."""

    MANIFEST = "manifest"
    SIGNATURE = "signature"
    STOP = "stop"


STATUS_TRANSITIONS: Final[dict[EventStatus, frozenset[EventStatus]]] = {
    EventStatus.DRAFT: frozenset({EventStatus.PUBLISHED, EventStatus.CANCELLED}),
    EventStatus.PUBLISHED: frozenset({EventStatus.CANCELLED, EventStatus.ENDED}),
    EventStatus.CANCELLED: frozenset(),
    EventStatus.ENDED: frozenset(),
}
FINAL_STATUSES: Final = frozenset(status for status, following in STATUS_TRANSITIONS.items() if not following)


class EventNotFound(Refusal):
    """There is no such event."""

    code = "event_not_found"


class EventNotActive(Refusal):
    """This event is not open for scans."""

    code = "event_not_active"


class DoorsClosed(Refusal):
    """The doors of this event are not open yet."""

    code = "doors_closed"


@dataclass(frozen=True, slots=True)
class TicketCategory:
    """Its tickets open these gates, from `valid_from` until before `valid_until`. None: all of them, always."""

    id: UUID
    event_id: UUID
    name: str
    tier: str
    price_minor: int
    currency: str
    quantity_total: int
    quantity_sold: int
    updated_at: datetime = EPOCH
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    gates: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Event:
    id: UUID
    title: str
    description: str | None
    venue: str | None
    city: str | None
    country: str | None
    starts_at: datetime
    ends_at: datetime
    cover_url: str | None
    status: EventStatus
    time_zone: str = "UTC"
    updated_at: datetime = EPOCH
    codes: EventCodes = EventCodes.ANY
    # None: they open on publishing.
    doors_open_at: datetime | None = None
    offline: OfflineAdmission = OfflineAdmission.MANIFEST
