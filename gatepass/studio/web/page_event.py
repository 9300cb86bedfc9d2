"""The event in the URL of a page, for the sections of events and of tickets."""

from uuid import UUID

from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import events, sandbox
from gatepass.domain.events import CatalogueEntry, EventNotFound
from gatepass.domain.keys import Mode
from gatepass.studio.web.context import Context


def live_only(context: Context, event_id: UUID | None = None) -> None:
    """Refuse in the sandbox: it has one event, which nobody can change."""
    if context.mode is Mode.SANDBOX:
        if event_id is not None:
            sandbox.find(event_id)
        raise NotAllowedFromHere("The sandbox has one event of its own, which always stays the same. Switch to live.")


async def event_of_page(context: Context, event_id: UUID) -> CatalogueEntry:
    """The event in the URL, in either mode."""
    if context.mode is Mode.SANDBOX:
        return sandbox.find(event_id)
    async with context.db.autocommit() as tx:
        return await events.find(tx, context.organization_id, event_id)


async def live_event(context: Context, event_id: UUID) -> CatalogueEntry:
    """For pages that the sandbox does not have."""
    if context.mode is Mode.SANDBOX:
        raise EventNotFound
    return await event_of_page(context, event_id)


async def editable_event(context: Context, event_id: UUID) -> CatalogueEntry:
    """For forms that change the event."""
    live_only(context, event_id)
    return await event_of_page(context, event_id)
