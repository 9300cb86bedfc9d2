"""Making events, changing what is said about them, and moving them through their life."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes, webhooks
from gatepass.domain.events import details
from gatepass.domain.events.covers import forget_unused
from gatepass.domain.events.details import Details
from gatepass.domain.events.event import FINAL, GRACE, MOVES, Event, EventNotFound, EventStatus
from gatepass.domain.webhooks import Message, MessageType


async def create(
    tx: Tx,
    organization_id: UUID,
    title: str,
    starts_at: datetime,
    ends_at: datetime,
    *,
    by: str,
    at: datetime,
    time_zone: str = "UTC",
    description: str | None = None,
    venue: str | None = None,
    city: str | None = None,
    country: str | None = None,
    cover_url: str | None = None,
) -> UUID:
    """Make an event; it begins as a draft."""
    new = Details(title, starts_at, ends_at, time_zone, description, venue, city, country, cover_url)
    details.require(new)
    event_id = new_id()
    await tx.run(CREATE, organization_id, event_id, *asdict(new).values(), at)
    await changes.note(tx, organization_id, "event", event_id, "created", by=by, at=at, becomes=EventStatus.DRAFT)
    return event_id


async def edit(tx: Tx, organization_id: UUID, event_id: UUID, new: Details, *, by: str, at: datetime) -> list[str]:
    """Change what is said about an event; the fields that differ, each of them noted. What is over stays as it was."""
    details.require(new)
    event = await lock(tx, organization_id, event_id)
    if event.status in FINAL:
        raise NotAllowedFromHere(f"An event that is {event.status} cannot be changed.")
    changed = [one.name for one in fields(Details) if getattr(event, one.name) != getattr(new, one.name)]
    if changed:
        await tx.run(EDIT, organization_id, event_id, *asdict(new).values())
    for field in changed:
        was, becomes = _written(getattr(event, field)), _written(getattr(new, field))
        action = f"{field} changed"
        await changes.note(tx, organization_id, "event", event_id, action, by=by, at=at, was=was, becomes=becomes)
    if "cover_url" in changed:
        await forget_unused(tx, organization_id, event.cover_url)
    return changed


async def lock(tx: Tx, organization_id: UUID, event_id: UUID) -> Event:
    """The event, which nobody else changes until this transaction ends."""
    event = await tx.one(Event, LOCK, organization_id, event_id)
    if event is None:
        raise EventNotFound
    return event


def _written(value: str | datetime | None) -> str | None:
    return rfc3339(value) if isinstance(value, datetime) else value


async def move(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    to: EventStatus,
    *,
    by: str,
    at: datetime,
    reason: str | None = None,
) -> None:
    """Publish, cancel or end an event. Its tickets are cancelled by the worker, in batches that no gate notices."""
    status = (await lock(tx, organization_id, event_id)).status
    if to not in MOVES[status]:
        raise NotAllowedFromHere(f"An event that is {status} cannot become {to}.")
    await tx.run(MOVE, organization_id, event_id, to)
    await changes.note(tx, organization_id, "event", event_id, to, by=by, at=at, was=status, becomes=to, reason=reason)
    if to is EventStatus.CANCELLED:
        data = {"event_id": str(event_id), "cancelled_at": rfc3339(at), "reason": reason}
        message = Message(new_id(), MessageType.EVENT_CANCELLED, data, ordering_key=event_id)
        await webhooks.emit(tx, organization_id, [message], at=at)


async def end_past(tx: Tx, *, at: datetime) -> int:
    """End what ended more than GRACE ago, in every organization; how many that were."""
    ended = await tx.rows(END_PAST, at - GRACE)
    for row in ended:
        await changes.note(
            tx,
            row["organization_id"],
            "event",
            row["id"],
            EventStatus.ENDED,
            by="upkeep",
            at=at,
            was=EventStatus.PUBLISHED,
            becomes=EventStatus.ENDED,
        )
    return len(ended)


# The columns of this and of EDIT stand in the order of Details.
CREATE: Final = """
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, time_zone, description, venue, city, country,
                       cover_url, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""

EDIT: Final = """
    UPDATE event
       SET title = $3, starts_at = $4, ends_at = $5, time_zone = $6, description = $7, venue = $8, city = $9,
           country = $10, cover_url = $11
     WHERE organization_id = $1
       AND id = $2
"""

LOCK: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

MOVE: Final = """
    UPDATE event
       SET status = $3
     WHERE organization_id = $1
       AND id = $2
"""

END_PAST: Final = """
    -- every organization: upkeep ends what is over, wherever it is
    UPDATE event
       SET status = 'ended'
     WHERE status = 'published'
       AND ends_at <= $1
    RETURNING organization_id, id
"""
