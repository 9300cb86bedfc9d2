"""Tickets of an event: the list, issuing one, cancelling one, undoing an activation, and all as CSV."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from gatepass.base.clock import with_offset
from gatepass.base.errors import Refusal
from gatepass.base.ids import strict_uuid
from gatepass.domain import sandbox, tickets
from gatepass.domain.cards import HolderDetails
from gatepass.domain.events import CatalogueEntry
from gatepass.domain.imports import TAKES_TICKETS
from gatepass.domain.staff import Permission
from gatepass.domain.tickets import IssuedTicket, ListedTicket, TicketFilter, TicketRequest, TicketState
from gatepass.domain.visibility import GuestField
from gatepass.studio.tickets.holder_fields import HolderEmail, HolderName
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.csv_download import csv_download
from gatepass.studio.web.forms import Form, Line, OptionalLine, Reason
from gatepass.studio.web.page_event import event_of_page, event_with_tickets, is_fictional

router = APIRouter()

Reader = Annotated[Context, may(Permission.TICKETS_READ)]
Writer = Annotated[Context, may(Permission.TICKETS_WRITE)]
# The file has every holder of an event.
ConfirmedReader = Annotated[Context, may(Permission.TICKETS_READ, confirmed=True)]
PAGE: Final = 50
EXPORTED_AT_ONCE: Final = 1_000
LONGEST_QUERY: Final = 320
COLUMNS: Final = (
    "ticket",
    "state",
    "category",
    "tier",
    "card number",
    "external id",
    "issued",
    "activated",
    "gate",
    "cancelled",
)
OF_HOLDERS: Final = ("name", "e-mail")


class NewTicketForm(BaseModel):
    category: Line
    card_number: OptionalLine = ""
    name: HolderName = ""
    email: HolderEmail = ""
    external_id: Annotated[OptionalLine, Field(max_length=128)] = ""

    def request(self, event_id: UUID, category_id: UUID) -> TicketRequest:
        """A card that is named keeps its holder."""
        holder = HolderDetails(self.name or None, self.email or None) if self.name or self.email else None
        return TicketRequest(
            event_id,
            category_id,
            card_number=self.card_number or None,
            holder=None if self.card_number else holder,
            external_id=self.external_id or None,
        )


# The field of the form for each parameter of the verb.
FIELDS: Final = {
    "category_id": "category",
    "card_number": "card_number",
    "holder": "email",
    "external_id": "external_id",
}


@router.get("/events/{event_id}/tickets")
async def listing(
    event_id: UUID, context: Reader, category: str = "", state: str = "", before: str = "", q: str = ""
) -> Response:
    event = await event_of_page(context, event_id)
    if is_fictional(context, event_id):
        return context.page("cards/sandbox.html", cards=sandbox.CARDS, event=event.event)
    text = q.strip()[:LONGEST_QUERY].replace("\0", "")
    wanted = next((one for one in TicketState if one == state), None)
    of_category = next((one.id for one in event.categories if str(one.id) == category), None)
    filters = {"category": str(of_category or ""), "state": wanted or ""}
    filters = {name: value for name, value in filters.items() if value}
    if text:
        async with context.db.autocommit() as tx:
            found, more = await tickets.search_in_event(
                tx, context.tenant_id, event_id, text, category_id=of_category, state=wanted,
                sight=context.sight, limit=PAGE,
            )  # fmt: skip
        return _list_page(context, event, found, q=text, more=more, filters=filters)
    async with context.db.autocommit() as tx:
        narrowed = TicketFilter(event_id, category_id=of_category, state=wanted)
        page, place = await tickets.list_tickets(
            tx, context.tenant_id, narrowed, before=strict_uuid(before), limit=PAGE
        )
    return _list_page(
        context, event, page, filters=filters, older="?" + urlencode({**filters, "before": place}) if place else None,
        newer="?" + urlencode(filters) if strict_uuid(before) else None,
    )  # fmt: skip


def _list_page(context: Context, event: CatalogueEntry, found: list[ListedTicket], **facts: Any) -> Response:
    others: dict[str, Any] = {"q": "", "more": False, "filters": {}, "older": None, "newer": None}
    return context.page(
        "tickets/list.html",
        event=event.event,
        categories=event.categories,
        tickets=found,
        states=list(TicketState),
        takes_tickets=event.event.status in TAKES_TICKETS,
        zone=event.event.time_zone,
        **(others | facts),
    )


@router.get("/events/{event_id}/tickets/new")
async def new(event_id: UUID, context: Writer) -> Response:
    event = await event_with_tickets(context, event_id)
    only = event.categories[0].id if len(event.categories) == 1 else ""
    return context.page("tickets/new.html", event=event.event, categories=event.categories, form=Form.of(category=only))


@router.post("/events/{event_id}/tickets/new")
async def issue(event_id: UUID, context: Writer) -> Response:
    event = await event_with_tickets(context, event_id)
    form = await context.form()
    wanted = form.read(NewTicketForm)
    # By id, as the page sends it, or by name.
    category = next((one for one in event.categories if wanted and wanted.category in (str(one.id), one.name)), None)
    if wanted is not None and category is None:
        form.errors["category"] = "The event has no such category."
    elif wanted is not None and category is not None:
        try:
            async with context.tenant_transaction() as tx:
                made = await tickets.issue(
                    tx, context.tenant_id, wanted.request(event_id, category.id), by=context.by, at=context.at
                )
        except Refusal as refusal:
            if refusal.param not in FIELDS:
                raise
            form.errors[FIELDS[refusal.param]] = str(refusal)
        else:
            return context.go(f"cards/{made.card_id}", _flash(made))
    return context.page("tickets/new.html", event=event.event, categories=event.categories, form=form, status=422)


def _flash(made: IssuedTicket) -> str:
    if not made.is_new:
        return f"This ticket was issued before. It is on card {made.card_number}."
    if made.companion:
        return f"The ticket is for a companion, on a card of its own: {made.card_number}."
    return f"The ticket is on card {made.card_number}."


@router.get("/events/{event_id}/tickets/export")
async def export(event_id: UUID, context: ConfirmedReader) -> Response:
    """Every ticket of the event, read page by page: of holders, what the role sees, and no columns for the rest."""
    event = await event_with_tickets(context, event_id)
    with_names = context.sight.sees(GuestField.NAME) and context.sight.sees(GuestField.EMAIL)

    async def pages() -> AsyncIterator[list[list[str]]]:
        after: UUID | None = None
        while True:
            async with context.db.autocommit() as tx:
                some = await tickets.export_some(tx, context.tenant_id, event_id, after=after, limit=EXPORTED_AT_ONCE)
            if not some:
                return
            after = some[-1].id
            yield [_cells(ticket, event.event.time_zone, with_names=with_names) for ticket in context.sight.of(some)]

    await context.note_export("event", event_id, "tickets_with_holders" if with_names else "tickets")
    return csv_download(f"tickets-{event.event.title}", [*COLUMNS, *(OF_HOLDERS if with_names else ())], pages())


def _cells(ticket: ListedTicket, zone: str, *, with_names: bool) -> list[str]:
    times = (ticket.issued_at, ticket.activated_at, ticket.cancelled_at)
    issued, activated, cancelled = (with_offset(at, zone) if at else "" for at in times)
    cells = [
        str(ticket.id),
        ticket.state,
        ticket.category_name,
        ticket.tier,
        ticket.card_number,
        ticket.external_id or "",
    ]
    cells += [issued, activated, ticket.activated_gate or "", cancelled]
    return [*cells, ticket.name or "", ticket.email or ""] if with_names else cells


@router.get("/tickets/{ticket_id}")
async def show(ticket_id: UUID, context: Reader) -> Response:
    """A ticket is shown on the page of its card."""
    return context.go(f"cards/{(await _ticket(context, ticket_id)).card_id}")


@router.post("/tickets/{ticket_id}/cancel")
async def cancel(ticket_id: UUID, context: Writer) -> Response:
    ticket = await _ticket(context, ticket_id)
    wanted = (await context.form()).read(Reason)
    if wanted is None:
        return await _ask(context, ticket, "cancel")
    async with context.tenant_transaction() as tx:
        await tickets.cancel(tx, context.tenant_id, ticket_id, by=context.by, at=context.at, reason=wanted.reason)
    return context.go(f"cards/{ticket.card_id}", "The ticket is cancelled. Its place is free again.")


@router.post("/tickets/{ticket_id}/undo")
async def undo(ticket_id: UUID, context: Writer) -> Response:
    ticket = await _ticket(context, ticket_id)
    wanted = (await context.form()).read(Reason)
    if wanted is None:
        return await _ask(context, ticket, "undo")
    async with context.tenant_transaction() as tx:
        await tickets.undo_activation(
            tx, context.tenant_id, ticket_id, by=context.by, at=context.at, reason=wanted.reason
        )
    return context.go(f"cards/{ticket.card_id}", "The activation is taken back. The ticket can be used again.")


async def _ask(context: Context, ticket: ListedTicket, act: str) -> Response:
    """The reason was missing: ask for it on a page of its own."""
    form = Form.of()
    form.errors["reason"] = "Say why; somebody will ask."
    return context.page("tickets/reason.html", ticket=ticket, act=act, form=form, status=422)


async def _ticket(context: Context, ticket_id: UUID) -> ListedTicket:
    async with context.db.autocommit() as tx:
        return await tickets.find(tx, context.tenant_id, ticket_id)
