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


@dataclass(frozen=True, slots=True)
class TicketCategory:
    id: UUID
    event_id: UUID
    name: str
    tier: str
    price_minor: int
    currency: str
    quantity_total: int
    quantity_sold: int
    updated_at: datetime = EPOCH


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
