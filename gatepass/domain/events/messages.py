"""The messages about events. A message about changed details describes the whole event as it is now."""

from datetime import datetime
from typing import Any
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import webhooks
from gatepass.domain.events.catalogue import CatalogueEntry, find
from gatepass.domain.events.event import EventStatus, TicketCategory
from gatepass.domain.events.money import to_major
from gatepass.domain.webhooks import Message, MessageType


async def tell_updated(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> None:
    """The event was created or changed, or one of its categories."""
    wanted = await webhooks.subscribed_types(tx, organization_id, at=at)
    if MessageType.EVENT_UPDATED in wanted:
        data = described(await find(tx, organization_id, event_id))
        message = Message(new_id(), MessageType.EVENT_UPDATED, data, ordering_key=event_id)
        await webhooks.emit(tx, organization_id, [message], at=at, wanted=wanted)


async def tell_status(
    tx: Tx, organization_id: UUID, event_id: UUID, status: EventStatus, *, at: datetime, reason: str | None = None
) -> None:
    """The event was published, cancelled or ended."""
    type = MessageType(f"event.{status}")
    wanted = await webhooks.subscribed_types(tx, organization_id, at=at)
    if type not in wanted:
        return
    data: dict[str, Any] = {"event_id": str(event_id)}
    if status is EventStatus.PUBLISHED:
        data = described(await find(tx, organization_id, event_id))
    data[f"{status}_at"] = rfc3339(at)
    if status is EventStatus.CANCELLED:
        data["reason"] = reason
    message = Message(new_id(), type, data, ordering_key=event_id)
    await webhooks.emit(tx, organization_id, [message], at=at, wanted=wanted)


async def tell_deleted(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> None:
    data = {"event_id": str(event_id), "deleted_at": rfc3339(at)}
    message = Message(new_id(), MessageType.EVENT_DELETED, data, ordering_key=event_id)
    await webhooks.emit(tx, organization_id, [message], at=at)


def described(entry: CatalogueEntry) -> dict[str, Any]:
    """All of an event but its cover, and how many tickets are issued: each ticket has a message of its own."""
    event = entry.event
    return {
        "event_id": str(event.id),
        "status": event.status,
        "title": event.title,
        "description": event.description,
        "venue": event.venue,
        "city": event.city,
        "country": event.country,
        "time_zone": event.time_zone,
        "starts_at": rfc3339(event.starts_at),
        "ends_at": rfc3339(event.ends_at),
        "codes": event.codes,
        "doors_open_at": event.doors_open_at and rfc3339(event.doors_open_at),
        "offline": event.offline,
        "ticket_categories": [_category(category) for category in entry.categories],
        "updated_at": rfc3339(event.updated_at),
    }


def _category(category: TicketCategory) -> dict[str, Any]:
    return {
        "id": str(category.id),
        "name": category.name,
        "tier": category.tier,
        "price": to_major(category.price_minor, category.currency),
        "currency": category.currency,
        "quantity_total": category.quantity_total,
        "valid_from": category.valid_from and rfc3339(category.valid_from),
        "valid_until": category.valid_until and rfc3339(category.valid_until),
        "gates": category.gates,
    }
