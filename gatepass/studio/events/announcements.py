"""Telling the holders of a changed or cancelled event by mail: counted first, chosen by a person, and stoppable."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain import announcements
from gatepass.domain.announcements import AnnouncementUnderWay, NothingToAnnounce, TooManyAnnouncements
from gatepass.domain.events import Event
from gatepass.domain.staff import Permission
from gatepass.studio.events.view import show
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form
from gatepass.studio.web.page_event import editable_event, event_of_page

router = APIRouter(prefix="/events")

# It writes to people outside, which nobody can take back.
ConfirmedWriter = Annotated[Context, may(Permission.EVENTS_WRITE, confirmed=True)]


@router.get("/{event_id}/tell")
async def look_before_telling(event_id: UUID, context: ConfirmedWriter) -> Response:
    return await _page(event_id, context, Form.of())


@router.post("/{event_id}/tell")
async def tell(event_id: UUID, context: ConfirmedWriter) -> Response:
    listing = await editable_event(context, event_id)
    form = Form.of()
    try:
        async with context.tenant_transaction() as tx:
            begun = await announcements.begin(
                tx, context.studio.mailer, context.tenant_id, listing.event, by=context.by, at=context.at
            )
    except (AnnouncementUnderWay, NothingToAnnounce, TooManyAnnouncements) as refusal:
        form.errors[""] = str(refusal)
        return await _page(event_id, context, form, status=422)
    told = f"Letters to {begun.holders:,} holders are being written, and sent as they are."
    return context.go(f"events/{event_id}/tell", told)


@router.post("/{event_id}/tell/{announcement_id}/stop")
async def stop(event_id: UUID, announcement_id: UUID, context: ConfirmedWriter) -> Response:
    await editable_event(context, event_id)
    async with context.tenant_transaction() as tx:
        stopped = await announcements.stop(tx, context.tenant_id, announcement_id, by=context.by, at=context.at)
    told = "No more letters are written. Those that were are sent." if stopped else "They were all written already."
    return context.go(f"events/{event_id}/tell", told)


async def _page(event_id: UUID, context: Context, form: Form, *, status: int = 200) -> Response:
    listing = await editable_event(context, event_id)
    kind = announcements.kind_for(listing.event, at=context.at)
    if kind is None or not is_announceable(context, listing.event):
        return context.go(f"events/{event_id}", "There is nobody to tell by mail.")
    async with context.db.autocommit() as tx:
        readers = await announcements.count_readers(tx, context.tenant_id, event_id, kind)
        recent = await announcements.recent(tx, context.tenant_id, event_id, at=context.at)
    facts = {"listing": listing, "readers": readers, "recent": recent, "form": form, "kind": kind}
    return show(context, "events/tell.html", status=status, **facts)


def is_announceable(context: Context, event: Event) -> bool:
    """Whether the holders of this event can be told: not in the sandbox, and not without a mail server."""
    mailed = context.studio.mailer.sends_for(context.tenant_id)
    return mailed and announcements.kind_for(event, at=context.at) is not None


async def page_after_change(context: Context, event_id: UUID) -> str:
    """Where to go after a change that holders should know of: if there are any, to the page that asks."""
    listing = await event_of_page(context, event_id)
    kind = announcements.kind_for(listing.event, at=context.at)
    if kind is not None and is_announceable(context, listing.event):
        async with context.db.autocommit() as tx:
            if await announcements.count_readers(tx, context.tenant_id, event_id, kind):
                return f"events/{event_id}/tell"
    return f"events/{event_id}"
