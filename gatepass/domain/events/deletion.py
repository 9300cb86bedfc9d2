"""Deleting a draft. Every other event stays, for the tickets, the scans and the messages that name it."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log
from gatepass.domain.events import messages
from gatepass.domain.events.covers import delete_unused
from gatepass.domain.events.event import Event, EventNotFound, EventStatus


async def delete(tx: Tx, organization_id: UUID, event_id: UUID, *, by: str, at: datetime) -> Event:
    """Delete a draft with its categories, unless something was issued or imported for it; the draft that it was."""
    event = await tx.one(Event, HOLD, organization_id, event_id)
    if event is None:
        raise EventNotFound
    if event.status is not EventStatus.DRAFT:
        raise NotAllowedFromHere(f"An event that is {event.status} cannot be deleted.")
    await tx.run(HOLD_CATEGORIES, organization_id, event_id)
    if await tx.value(IS_USED, organization_id, event_id):
        raise NotAllowedFromHere("Tickets were issued or imported for this draft. Cancel it instead.")
    await tx.run(DELETE_CATEGORIES, organization_id, event_id)
    await tx.run(DELETE, organization_id, event_id)
    await delete_unused(tx, organization_id, event.cover_url)
    await audit_log.record(tx, organization_id, "event", event_id, "deleted", by=by, at=at, was=event.title)
    await messages.tell_deleted(tx, organization_id, event_id, at=at)
    return event


# No ticket and no import can be added to it meanwhile: their foreign keys wait for these locks.
HOLD: Final = """
    SELECT id, title, description, venue, city, country, starts_at, ends_at, cover_url, status, time_zone,
           updated_at, codes, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR UPDATE
"""

HOLD_CATEGORIES: Final = """
    SELECT id
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
     ORDER BY id
       FOR UPDATE
"""

IS_USED: Final = """
    SELECT EXISTS (SELECT FROM ticket t WHERE t.organization_id = $1 AND t.event_id = $2)
        OR EXISTS (SELECT FROM import i WHERE i.organization_id = $1 AND i.event_id = $2)
"""

DELETE_CATEGORIES: Final = """
    DELETE FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
"""

DELETE: Final = """
    DELETE FROM event
     WHERE organization_id = $1
       AND id = $2
"""
