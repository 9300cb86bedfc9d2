"""The incidents of an event: who was let in against the record, where and when; closed with a note."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.domain import incidents
from gatepass.domain.actors import find_actors
from gatepass.domain.incidents import MEANINGS, IncidentFilter, IncidentKind, IncidentNotFound
from gatepass.domain.staff import Permission
from gatepass.studio.events.view import show
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, Line
from gatepass.studio.web.page_event import event_with_tickets
from gatepass.studio.web.paging import PAGE, filters_in, place_in, rest_of

router = APIRouter(prefix="/events/{event_id}/incidents")

Reader = Annotated[Context, may(Permission.TICKETS_READ)]
Writer = Annotated[Context, may(Permission.TICKETS_WRITE)]
STATES: Final = {"open": True, "closed": False}
STATE_CHOICES: Final = (("open", "Open"), ("closed", "Closed"), ("all", "All"))
KIND_CHOICES: Final = (("", "All kinds"), *((kind.value, kind.replace("_", " ").capitalize()) for kind in IncidentKind))


class Filters(BaseModel):
    state: str = "open"
    kind: str = ""


class Note(BaseModel):
    note: Line


@router.get("")
async def listing(event_id: UUID, context: Reader) -> Response:
    return await _page(event_id, context, Form.of())


async def _page(
    event_id: UUID, context: Context, note: Form, *, closing: UUID | None = None, status: int = 200
) -> Response:
    listing = await event_with_tickets(context, event_id)
    _, chosen = filters_in(context, Filters)
    chosen = chosen or Filters()
    kind = IncidentKind(chosen.kind) if chosen.kind in list(IncidentKind) else None
    wanted = IncidentFilter(event_id, kind, STATES.get(chosen.state or "open"))
    async with context.db.autocommit() as tx:
        found, place = await incidents.list_incidents(
            tx, context.tenant_id, wanted, before=place_in(context), limit=PAGE
        )
        counts = await incidents.count_open(tx, context.tenant_id, event_id)
        people = [text for one in found for text in (one.opened_by, one.closed_by)]
        actors = await find_actors(tx, context.organization_id, people)
    return show(
        context, "events/incidents.html", status=status, listing=listing, event=listing.event, incidents=found,
        counts=counts, actors=actors, form=Form.of(state=chosen.state or "open", kind=chosen.kind), note=note,
        closing=closing, is_filtered=kind is not None or (chosen.state or "open") != "open", MEANINGS=MEANINGS,
        STATE_CHOICES=STATE_CHOICES, KIND_CHOICES=KIND_CHOICES,
        **rest_of(context, f"events/{event_id}/incidents", place),
    )  # fmt: skip


@router.post("/{incident_id}/close")
async def close(event_id: UUID, incident_id: UUID, context: Writer) -> Response:
    """Close an incident. It stays in the list of closed ones."""
    form = await context.form()
    wanted = form.read(Note)
    async with context.db.autocommit() as tx:
        if (await incidents.find(tx, context.tenant_id, incident_id)).event_id != event_id:
            raise IncidentNotFound
    if wanted is None:
        return await _page(event_id, context, form, closing=incident_id, status=422)
    async with context.tenant_transaction() as tx:
        await incidents.close(tx, context.tenant_id, incident_id, note=wanted.note, by=context.by, at=context.at)
    return context.go(f"events/{event_id}/incidents", "The incident is closed.")
