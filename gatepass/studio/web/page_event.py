"""The event in the URL of a page, for the sections of events and of tickets."""

from uuid import UUID

from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import events, sandbox
from gatepass.domain.events import CatalogueEntry, EventNotFound
from gatepass.domain.keys import Mode
from gatepass.studio.web.context import Context


def is_fictional(context: Context, event_id: UUID) -> bool:
    return context.mode is Mode.SANDBOX and event_id == sandbox.EVENT_ID


def require_changeable(context: Context, event_id: UUID) -> None:
    """Refuse for the sandbox's fictional event, which nobody can change."""
    if is_fictional(context, event_id):
        raise NotAllowedFromHere("The fictional event always stays the same. Make one of your own.")


async def event_of_page(context: Context, event_id: UUID) -> CatalogueEntry:
    """The event in the URL, in either mode."""
    if is_fictional(context, event_id):
        return sandbox.CATALOGUE_ENTRY
    async with context.db.autocommit() as tx:
        return await events.find(tx, context.tenant_id, event_id)


async def event_with_tickets(context: Context, event_id: UUID) -> CatalogueEntry:
    """For pages that the fictional event does not have."""
    if is_fictional(context, event_id):
        raise EventNotFound
    return await event_of_page(context, event_id)


async def editable_event(context: Context, event_id: UUID) -> CatalogueEntry:
    """For forms that change the event."""
    require_changeable(context, event_id)
    return await event_of_page(context, event_id)
