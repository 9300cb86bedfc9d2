"""The live page of an event: how many are in, by which gate, which scans were refused and why. Also on a projector."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header
from starlette.responses import Response

from gatepass.domain.staff import Permission
from gatepass.studio.events.live_stream import LiveStream, view_of
from gatepass.studio.events.view import show
from gatepass.studio.services.live_view import View
from gatepass.studio.services.live_watcher import EventRef
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.page_event import event_of_page

router = APIRouter(prefix="/events/{event_id}/live")
Reader = Annotated[Context, may(Permission.LIVE_READ)]
# In seconds: a page that is reloaded all the time causes no more reads than a stream.
OLD_ENOUGH = 0.4


@router.get("")
async def live(event_id: UUID, context: Reader) -> Response:
    return await _page("live/live.html", event_id, context, view_of(context.role))


@router.get("/projector")
async def projector(event_id: UUID, context: Reader) -> Response:
    return await _page("live/projector.html", event_id, context, View.PROJECTOR)


@router.get("/stream")
async def stream(
    event_id: UUID,
    context: Reader,
    wall: bool = False,  # noqa: FBT001, FBT002  a query
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> Response:
    """Changes as server-sent events. A browser reconnects with the id of the last event that it received."""
    await event_of_page(context, event_id)
    context.studio.live_hub.require_capacity(context.session.person_id)
    view = View.PROJECTOR if wall else view_of(context.role)
    return LiveStream(context, _event_ref(context, event_id), view, last_event_id)


async def _page(template: str, event_id: UUID, context: Context, view: View) -> Response:
    zone = (await event_of_page(context, event_id)).event.time_zone
    event_ref = _event_ref(context, event_id)
    shown = context.studio.live_hub.view(event_ref)
    await shown.watcher.look(if_older_than=OLD_ENOUGH)
    return show(
        context, template, pieces=shown.pieces(view), figures=shown.watcher.figures, event_id=event_id, zone=zone
    )


def _event_ref(context: Context, event_id: UUID) -> EventRef:
    return EventRef(context.tenant_id, context.mode, event_id)
