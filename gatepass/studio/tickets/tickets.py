"""Tickets of an event: the list, one more by hand, cancelling one, taking an activation back, and all as CSV."""

from collections.abc import AsyncIterator
from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from gatepass.base.clock import rfc3339
from gatepass.base.ids import strict_uuid
from gatepass.base.refusals import Refusal
from gatepass.domain import events, sandbox, tickets
from gatepass.domain.events import EventNotFound, Listing
from gatepass.domain.imports import TAKES_TICKETS
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.domain.tickets import ListedTicket, TicketNotFound, TicketState
from gatepass.studio.downloads import csv_download
from gatepass.studio.entrance import may
from gatepass.studio.form import Form, Line, OptionalLine
from gatepass.studio.visit import Visit

router = APIRouter()

Reader = Annotated[Visit, may(Permission.TICKETS_READ)]
Writer = Annotated[Visit, may(Permission.TICKETS_WRITE)]
PAGE: Final = 50
EXPORTED_AT_ONCE: Final = 1_000
COLUMNS: Final = (
    "ticket",
    "state",
    "category",
    "tier",
    "card number",
    "reference",
    "issued",
    "activated",
    "gate",
    "cancelled",
)
OF_HOLDERS: Final = ("name", "e-mail")


class NewTicket(BaseModel):
    category: Line
    card_number: OptionalLine = ""
    name: OptionalLine = ""
    email: OptionalLine = ""
    reference: Annotated[OptionalLine, Field(max_length=100)] = ""


class Reason(BaseModel):
    reason: Line


async def _event(visit: Visit, event_id: UUID) -> Listing:
    if visit.mode is Mode.SANDBOX:
        return sandbox.find(event_id)
    async with visit.db.reading() as tx:
        return await events.find(tx, visit.organization_id, event_id)


def _live_only(visit: Visit) -> None:
    if visit.mode is Mode.SANDBOX:
        raise EventNotFound


@router.get("/events/{event_id}/tickets")
async def listing(event_id: UUID, visit: Reader, category: str = "", state: str = "", before: str = "") -> Response:
    event = await _event(visit, event_id)
    if visit.mode is Mode.SANDBOX:
        return visit.page("cards/sandbox.html", cards=sandbox.CARDS, ids=sandbox.CARD_IDS, event=event.event)
    wanted = next((one for one in TicketState if one == state), None)
    of_category = next((one for one in event.categories if str(one.id) == category), None)
    async with visit.db.reading() as tx:
        page, place = await tickets.of_event(
            tx, visit.organization_id, event_id, category_id=of_category.id if of_category else None, state=wanted,
            before=strict_uuid(before), limit=PAGE,
        )  # fmt: skip
    filters = {"category": str(of_category.id) if of_category else "", "state": wanted or ""}
    filters = {name: value for name, value in filters.items() if value}
    return visit.page(
        "tickets/list.html", event=event.event, categories=event.categories, tickets=page, filters=filters,
        states=list(TicketState), older="?" + urlencode({**filters, "before": place}) if place else None,
        newer="?" + urlencode(filters) if strict_uuid(before) else None,
        takes_tickets=event.event.status in TAKES_TICKETS,
    )  # fmt: skip


@router.get("/events/{event_id}/tickets/new")
async def new(event_id: UUID, visit: Writer) -> Response:
    _live_only(visit)
    event = await _event(visit, event_id)
    only = event.categories[0].id if len(event.categories) == 1 else ""
    return visit.page("tickets/new.html", event=event.event, categories=event.categories, form=Form.of(category=only))


@router.post("/events/{event_id}/tickets/new")
async def hand_out(event_id: UUID, visit: Writer) -> Response:
    _live_only(visit)
    event = await _event(visit, event_id)
    form = await visit.form()
    wanted = form.read(NewTicket)
    # By its id, as the page sends it, or by its name.
    category = next((one for one in event.categories if wanted and wanted.category in (str(one.id), one.name)), None)
    if wanted is not None and category is None:
        form.errors["category"] = "The event has no such category."
    elif wanted is not None and category is not None:
        try:
            async with visit.transaction() as tx:
                made = await tickets.hand_out(
                    tx, visit.organization_id, event_id, category.id, by=visit.by, at=visit.at,
                    card_number=wanted.card_number or None, name=wanted.name or None, email=wanted.email or None,
                    reference=wanted.reference or None,
                )  # fmt: skip
        except Refusal as refusal:
            if refusal.param is None:
                raise
            form.errors[refusal.param] = str(refusal)
        else:
            return visit.go(f"cards/{made.card_id}", f"The ticket is on card {made.card_number}.")
    return visit.page("tickets/new.html", event=event.event, categories=event.categories, form=form, status=422)


@router.get("/events/{event_id}/tickets/export")
async def export(event_id: UUID, visit: Reader) -> Response:
    """Every ticket of the event, read page by page; names only for who may see them."""
    _live_only(visit)
    event = await _event(visit, event_id)
    with_names = visit.may(Permission.HOLDERS_READ)

    async def pages() -> AsyncIterator[list[list[str]]]:
        after: UUID | None = None
        while True:
            async with visit.db.reading() as tx:
                some = await tickets.export_some(
                    tx, visit.organization_id, event_id, after=after, limit=EXPORTED_AT_ONCE
                )
            if not some:
                return
            after = some[-1].id
            yield [_cells(ticket, with_names=with_names) for ticket in some]

    return csv_download(f"tickets-{event.event.title}", [*COLUMNS, *(OF_HOLDERS if with_names else ())], pages())


def _cells(ticket: ListedTicket, *, with_names: bool) -> list[str]:
    times = (ticket.issued_at, ticket.activated_at, ticket.cancelled_at)
    issued, activated, cancelled = (rfc3339(at) if at else "" for at in times)
    cells = [
        str(ticket.id),
        ticket.state,
        ticket.category_name,
        ticket.tier,
        ticket.card_number,
        ticket.reference or "",
    ]
    cells += [issued, activated, ticket.activated_gate or "", cancelled]
    return [*cells, ticket.name or "", ticket.email or ""] if with_names else cells


@router.get("/tickets/{ticket_id}")
async def show(ticket_id: UUID, visit: Reader) -> Response:
    """A ticket is shown on the page of its card."""
    return visit.go(f"cards/{(await _ticket(visit, ticket_id)).card_id}")


@router.post("/tickets/{ticket_id}/cancel")
async def cancel(ticket_id: UUID, visit: Writer) -> Response:
    ticket = await _ticket(visit, ticket_id)
    wanted = (await visit.form()).read(Reason)
    if wanted is None:
        return await _ask(visit, ticket, "cancel")
    async with visit.transaction() as tx:
        await tickets.cancel(tx, visit.organization_id, ticket_id, by=visit.by, at=visit.at, reason=wanted.reason)
    return visit.go(f"cards/{ticket.card_id}", "The ticket is cancelled. Its place can be given away again.")


@router.post("/tickets/{ticket_id}/undo")
async def undo(ticket_id: UUID, visit: Writer) -> Response:
    ticket = await _ticket(visit, ticket_id)
    wanted = (await visit.form()).read(Reason)
    if wanted is None:
        return await _ask(visit, ticket, "undo")
    async with visit.transaction() as tx:
        await tickets.undo_activation(
            tx, visit.organization_id, ticket_id, by=visit.by, at=visit.at, reason=wanted.reason
        )
    return visit.go(f"cards/{ticket.card_id}", "The activation is taken back. The ticket can be used again.")


async def _ask(visit: Visit, ticket: ListedTicket, act: str) -> Response:
    """The reason was missing: a page of its own asks for it."""
    form = Form.of()
    form.errors["reason"] = "Say why; somebody will ask."
    return visit.page("tickets/reason.html", ticket=ticket, act=act, form=form, status=422)


async def _ticket(visit: Visit, ticket_id: UUID) -> ListedTicket:
    if visit.mode is Mode.SANDBOX:
        raise TicketNotFound("There is no such ticket.")
    async with visit.db.reading() as tx:
        return await tickets.find(tx, visit.organization_id, ticket_id)
