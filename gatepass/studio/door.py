"""The live door of an event: how many are in, by which gate, who was refused and why. And the same on a wall."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header
from starlette.responses import Response

from gatepass.domain import events, sandbox
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.studio.door_stream import DoorStream, view_of
from gatepass.studio.door_view import View
from gatepass.studio.entrance import may
from gatepass.studio.event_pages import show
from gatepass.studio.visit import Visit
from gatepass.studio.watch import Place

router = APIRouter(prefix="/events/{event_id}/door")
Watcher = Annotated[Visit, may(Permission.DOOR_READ)]
# A page that is loaded again and again is not read more often than a stream.
OLD_ENOUGH = 0.4


@router.get("")
async def live(event_id: UUID, visit: Watcher) -> Response:
    return await _page("door/door.html", event_id, visit, view_of(visit.role))


@router.get("/projector")
async def projector(event_id: UUID, visit: Watcher) -> Response:
    return await _page("door/projector.html", event_id, visit, View.PROJECTOR)


@router.get("/stream")
async def stream(
    event_id: UUID,
    visit: Watcher,
    wall: bool = False,  # noqa: FBT001, FBT002  a query
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> Response:
    """What changes, as server-sent events. People come back with the id of the last one that they got."""
    await _require_event(visit, event_id)
    visit.studio.tower.require_room(visit.session.person_id)
    view = View.PROJECTOR if wall else view_of(visit.role)
    return DoorStream(visit.studio, _place(visit, event_id), visit.session, visit.role, view, last_event_id)


async def _page(template: str, event_id: UUID, visit: Visit, view: View) -> Response:
    await _require_event(visit, event_id)
    place = _place(visit, event_id)
    shown = visit.studio.tower.view(place)
    await shown.watch.look(if_older_than=OLD_ENOUGH)
    return show(visit, template, pieces=shown.pieces(view), figures=shown.watch.figures, event_id=event_id)


def _place(visit: Visit, event_id: UUID) -> Place:
    return Place(visit.organization_id, visit.mode, event_id)


async def _require_event(visit: Visit, event_id: UUID) -> None:
    if visit.mode is Mode.SANDBOX:
        sandbox.find(event_id)
        return
    async with visit.db.reading() as tx:
        await events.find(tx, visit.organization_id, event_id)
