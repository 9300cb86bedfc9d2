"""Messages about events."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gatepass_sdk._decode import Model
from gatepass_sdk.messages.message import Message


@dataclass(frozen=True, kw_only=True)
class CancelledEvent(Model):
    event_id: str
    cancelled_at: datetime
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class EventCancelled(Message):
    """An event was cancelled; a `TicketCancelled` follows for each of its tickets."""

    data: CancelledEvent


@dataclass(frozen=True, kw_only=True)
class UpdatedCategory(Model):
    id: str
    name: str
    tier: str
    price: Decimal
    currency: str
    quantity_total: int
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    gates: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class UpdatedEvent(Model):
    """The whole event as it is now, except its cover."""

    event_id: str
    status: str
    title: str
    description: str | None
    venue: str | None
    city: str | None
    country: str | None
    time_zone: str
    starts_at: datetime
    ends_at: datetime
    ticket_categories: tuple[UpdatedCategory, ...]
    updated_at: datetime
    codes: str = "any"
    doors_open_at: datetime | None = None
    offline: str = "manifest"


@dataclass(frozen=True, kw_only=True)
class EventUpdated(Message):
    """An event was made or changed, or a category of it."""

    data: UpdatedEvent


@dataclass(frozen=True, kw_only=True)
class PublishedEvent(UpdatedEvent):
    published_at: datetime


@dataclass(frozen=True, kw_only=True)
class EventPublished(Message):
    """An event was published, and is open for scans."""

    data: PublishedEvent


@dataclass(frozen=True, kw_only=True)
class EndedEvent(Model):
    event_id: str
    ended_at: datetime


@dataclass(frozen=True, kw_only=True)
class EventEnded(Message):
    """An event has ended."""

    data: EndedEvent


@dataclass(frozen=True, kw_only=True)
class DeletedEvent(Model):
    event_id: str
    deleted_at: datetime


@dataclass(frozen=True, kw_only=True)
class EventDeleted(Message):
    """A draft was deleted."""

    data: DeletedEvent
