"""The events that a device can work for, as the choices of a form."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import events
from gatepass.domain.events import EventFilter, EventPeriod, EventStatus
from gatepass.studio.web.context import Context

# More than an organizer has ahead; a form with more choices would be of no use.
MOST: Final = 100


async def choices(tx: Tx, context: Context) -> list[tuple[UUID, str]]:
    """Events that are not over, the earliest first."""
    found = await events.list_events(
        tx, context.tenant_id, EventFilter(when=EventPeriod.UPCOMING), after=None, limit=MOST, at=context.at
    )
    return [
        (entry.event.id, entry.event.title)
        for entry in found.entries
        if entry.event.status in (EventStatus.DRAFT, EventStatus.PUBLISHED)
    ]


async def titles(tx: Tx, context: Context, event_ids: Iterable[UUID]) -> dict[UUID, str]:
    """The titles of these events. One that was deleted has none."""
    return await events.titles_of(tx, context.tenant_id, event_ids)
