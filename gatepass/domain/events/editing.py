"""Creating events, changing their details, and changing their status."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, keys, twin
from gatepass.domain.audit_log import SubjectEntry
from gatepass.domain.events import details, messages
from gatepass.domain.events.covers import delete_unused
from gatepass.domain.events.details import Details
from gatepass.domain.events.event import (
    FINAL_STATUSES,
    GRACE,
    STATUS_TRANSITIONS,
    Event,
    EventCodes,
    EventNotFound,
    EventStatus,
    OfflineAdmission,
)

# Who ends events by themselves, as the audit log names it.
MAINTENANCE: Final = "maintenance"


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
    codes: EventCodes = EventCodes.ANY,
    doors_open_at: datetime | None = None,
    offline: OfflineAdmission = OfflineAdmission.MANIFEST,
) -> UUID:
    """Create an event; it begins as a draft."""
    new = Details(
        title,
        starts_at,
        ends_at,
        time_zone,
        description,
        venue,
        city,
        country,
        cover_url,
        codes,
        doors_open_at,
        offline,
    )
    details.require(new)
    event_id = new_id()
    await tx.run(CREATE, organization_id, event_id, *asdict(new).values(), at)
    await twin.require_room(tx, organization_id)
    await audit_log.record(tx, organization_id, "event", event_id, "created", by=by, at=at, becomes=EventStatus.DRAFT)
    await messages.tell_updated(tx, organization_id, event_id, at=at)
    return event_id


async def edit(tx: Tx, organization_id: UUID, event_id: UUID, new: Details, *, by: str, at: datetime) -> list[str]:
    """Replace the details of an event; the names of the changed fields. Not for one that is ended or cancelled."""
    details.require(new)
    event = await lock(tx, organization_id, event_id)
    if event.status in FINAL_STATUSES:
        raise NotAllowedFromHere(f"An event that is {event.status} cannot be changed.")
    changed = [one.name for one in fields(Details) if getattr(event, one.name) != getattr(new, one.name)]
    if changed:
        await tx.run(EDIT, organization_id, event_id, *asdict(new).values())
    for field in changed:
        was, becomes = _written(getattr(event, field)), _written(getattr(new, field))
        action = f"{field} changed"
        await audit_log.record(tx, organization_id, "event", event_id, action, by=by, at=at, was=was, becomes=becomes)
    if "ends_at" in changed:
        await keys.follow_event(tx, organization_id, event_id)
    if "cover_url" in changed:
        await delete_unused(tx, organization_id, event.cover_url)
    if changed:
        await messages.tell_updated(tx, organization_id, event_id, at=at)
    return changed


async def lock(tx: Tx, organization_id: UUID, event_id: UUID) -> Event:
    """The event, locked against changes until this transaction ends."""
    event = await tx.one(Event, LOCK, organization_id, event_id)
    if event is None:
        raise EventNotFound
    return event


def _written(value: str | datetime | None) -> str | None:
    return rfc3339(value) if isinstance(value, datetime) else value


async def change_status(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    to: EventStatus,
    *,
    by: str,
    at: datetime,
    reason: str | None = None,
) -> None:
    """Publish, cancel or end an event. The worker cancels its tickets, in batches small enough not to delay a gate."""
    status = (await lock(tx, organization_id, event_id)).status
    if to not in STATUS_TRANSITIONS[status]:
        raise NotAllowedFromHere(f"An event that is {status} cannot become {to}.")
    cancel_reason = reason if to is EventStatus.CANCELLED else None
    await tx.run(CHANGE_STATUS, organization_id, event_id, to, cancel_reason, at if to is EventStatus.ENDED else None)
    await audit_log.record(
        tx, organization_id, "event", event_id, to, by=by, at=at, was=status, becomes=to, reason=reason
    )
    if to is EventStatus.ENDED:
        await keys.follow_event(tx, organization_id, event_id)
    await messages.tell_status(tx, organization_id, event_id, to, at=at, reason=reason)


async def reopen(
    tx: Tx, organization_id: UUID, event_id: UUID, *, by: str, at: datetime, reason: str | None = None
) -> None:
    """Open an event again that ended by itself, for GRACE at least: long enough to give it another end."""
    event = await lock(tx, organization_id, event_id)
    if event.status is not EventStatus.ENDED:
        raise NotAllowedFromHere(f"An event that is {event.status} cannot be reopened.")
    history = await audit_log.of_subject(tx, organization_id, event_id)
    if not has_ended_by_itself(history):
        raise NotAllowedFromHere("An event that somebody has ended cannot be reopened.")
    await tx.run(REOPEN, organization_id, event_id, at)
    await audit_log.record(
        tx, organization_id, "event", event_id, "reopened", by=by, at=at,
        was=EventStatus.ENDED, becomes=EventStatus.PUBLISHED, reason=reason,
    )  # fmt: skip
    await keys.follow_event(tx, organization_id, event_id)
    await messages.tell_updated(tx, organization_id, event_id, at=at)


def has_ended_by_itself(history: Sequence[SubjectEntry]) -> bool:
    """By the entries of the event in the audit log, newest first: what a person has ended stays so."""
    return next((one.actor for one in history if one.becomes == EventStatus.ENDED), None) == MAINTENANCE


async def end_past_events(tx: Tx, *, at: datetime) -> int:
    """End published events that were over, or reopened, more than GRACE ago, in every organization; how many.

    It waits for none that is being changed or sold at this moment: the next round ends those.
    """
    ended = await tx.rows(LOCK_PAST, at - GRACE)
    for row in ended:
        await tx.run(CHANGE_STATUS, row["organization_id"], row["id"], EventStatus.ENDED, None, at)
        await audit_log.record(
            tx,
            row["organization_id"],
            "event",
            row["id"],
            EventStatus.ENDED,
            by=MAINTENANCE,
            at=at,
            was=EventStatus.PUBLISHED,
            becomes=EventStatus.ENDED,
        )
        await keys.follow_event(tx, row["organization_id"], row["id"])
        await messages.tell_status(tx, row["organization_id"], row["id"], EventStatus.ENDED, at=at)
    return len(ended)


# The columns of CREATE and EDIT are in the order of Details.
CREATE: Final = """
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, time_zone, description, venue, city, country,
                       cover_url, codes, doors_open_at, offline, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
"""

EDIT: Final = """
    UPDATE event
       SET title = $3, starts_at = $4, ends_at = $5, time_zone = $6, description = $7, venue = $8, city = $9,
           country = $10, cover_url = $11, codes = $12, doors_open_at = $13, offline = $14
     WHERE organization_id = $1
       AND id = $2
"""

LOCK: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
           updated_at, codes, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

CHANGE_STATUS: Final = """
    UPDATE event
       SET status = $3, cancel_reason = $4, ended_at = $5
     WHERE organization_id = $1
       AND id = $2
"""

REOPEN: Final = """
    UPDATE event
       SET status = 'published', ended_at = NULL, reopened_at = $3
     WHERE organization_id = $1
       AND id = $2
"""

LOCK_PAST: Final = """
    -- every organization: maintenance ends events that are over, whichever organization has them
    SELECT organization_id, id
      FROM event
     WHERE status = 'published'
       AND ends_at <= $1
       AND (reopened_at IS NULL OR reopened_at <= $1)
       FOR NO KEY UPDATE SKIP LOCKED
"""
