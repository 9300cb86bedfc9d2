"""Cards to print and to pass on: many of an event as a file that the worker makes, or one at once.

A file opens gates for whoever has it. So making and downloading one needs a recent re-authentication, and both are in
the audit log.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import new_id, strict_uuid
from gatepass.domain import card_exports, tickets
from gatepass.domain.card_exports import (
    LONGEST_TOKEN,
    MOST_CARDS,
    MOST_CHOSEN,
    CardExport,
    ExportKind,
    ExportNotFound,
    ExportOrder,
    ExportState,
    Selection,
)
from gatepass.domain.card_sheets import Layout, PrintedCard, PrintedEvent
from gatepass.domain.events import CatalogueEntry, Event, time_zones
from gatepass.domain.staff import Permission
from gatepass.domain.visibility import GuestField
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form
from gatepass.studio.web.page_event import event_with_tickets

router = APIRouter()

Exporter = Annotated[Context, may(Permission.CARDS_EXPORT)]
ConfirmedExporter = Annotated[Context, may(Permission.CARDS_EXPORT, confirmed=True)]
ConfirmedWriter = Annotated[Context, may(Permission.TICKETS_WRITE, confirmed=True)]
SHOWN: Final = 20
# The choices of the form: a layout makes a PDF.
FORMATS: Final = (
    (Layout.A4, "PDF, ten cards on A4 with cut marks"),
    (Layout.CARD, "PDF, one card a page, 85.6 by 54 mm"),
    (Layout.BADGE, "PDF, one badge a page, 90 by 130 mm"),
    (ExportKind.CSV, "CSV, with the link and the token of each card"),
)
SINGLE_FORMATS: Final = (Layout.PAGE, Layout.BADGE, Layout.CARD)
# How long a code of one card works, in days.
LONGEST_DAYS: Final = LONGEST_TOKEN.days
DAY_AFTER: Final = timedelta(days=1)


class OrderForm(BaseModel):
    form_key: UUID
    format: Annotated[str, Field(pattern=f"^({'|'.join(format for format, _ in FORMATS)})$")]
    category: UUID | None = None
    ticket: Annotated[list[UUID], Field(max_length=MOST_CHOSEN)] = []
    until: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    names: bool = False

    def order(self, context: Context, event: Event) -> ExportOrder:
        kind = ExportKind.CSV if self.format == ExportKind.CSV else ExportKind.PDF
        return ExportOrder(
            event.id,
            kind,
            None if kind is ExportKind.CSV else Layout(self.format),
            Selection(None if self.ticket else self.category, self.ticket or None),
            _end_of(self.until, event),
            with_names=self.names and context.sight.sees(GuestField.NAME),
        )


class SingleForm(BaseModel):
    layout: Annotated[Layout, Field()] = Layout.PAGE
    days: Annotated[int, Field(ge=1, le=LONGEST_DAYS)] = 30


def _end_of(day: str, event: Event) -> datetime:
    """The end of this day at the venue."""
    try:
        begins = datetime.fromisoformat(day).replace(tzinfo=time_zones.zone(event.time_zone))
        return begins + DAY_AFTER
    except (ValueError, OverflowError):
        raise InvalidRequest("This is not a date.", param="until") from None


@router.get("/events/{event_id}/cards")
async def listing(event_id: UUID, context: Exporter, request: Request, category: str = "") -> Response:
    chosen = [id for text in request.query_params.getlist("ticket")[:MOST_CHOSEN] if (id := strict_uuid(text))]
    event = await event_with_tickets(context, event_id)
    until = (event.event.ends_at + DAY_AFTER).astimezone(time_zones.zone(event.event.time_zone))
    latest = context.at + LONGEST_TOKEN - 2 * DAY_AFTER
    form = Form.of(
        form_key=new_id(), format=request.query_params.get("format", Layout.A4), category=category, ticket=chosen,
        until=max(context.at, min(until, latest)).date(), names=["true"],
    )  # fmt: skip
    return await _page(context, event, form)


async def _page(context: Context, event: CatalogueEntry, form: Form, *, status: int = 200) -> Response:
    """The form with what it counts, and the newest files."""
    event_id = event.event.id
    chosen = [id for text in form.values("ticket") if (id := strict_uuid(text))]
    category = next((one for one in event.categories if str(one.id) == form.value("category")), None)
    selection = Selection(category.id if category and not chosen else None, chosen or None)
    async with context.db.autocommit() as tx:
        counted = await card_exports.count(tx, context.tenant_id, event_id, selection, most=MOST_CARDS + 1)
        phones_only = await card_exports.takes_phones_only(tx, context.tenant_id, event_id)
        files = await card_exports.of_event(tx, context.tenant_id, event_id, limit=SHOWN)
    facts: dict[str, Any] = {
        "event": event.event, "categories": event.categories, "category": category, "chosen": chosen, "form": form,
        "counted": counted, "is_too_many": counted.looked_at > MOST_CARDS, "most": MOST_CARDS,
        "phones_only": phones_only, "files": files, "formats": FORMATS, "zone": event.event.time_zone,
        "is_confirmed": context.session.is_reauthenticated(context.at),
        "is_making": any(one.state is ExportState.UNDER_WAY for one in files),
    }  # fmt: skip
    return context.page("events/cards.html", status=status, **facts)


@router.post("/events/{event_id}/cards")
async def begin(event_id: UUID, context: ConfirmedExporter) -> Response:
    event = await event_with_tickets(context, event_id)
    form = await context.form()
    wanted = form.read(OrderForm)
    if wanted is not None:
        try:
            order = wanted.order(context, event.event)
            async with context.tenant_transaction() as tx:
                await card_exports.begin(tx, context.tenant_id, wanted.form_key, order, by=context.by, at=context.at)
        except InvalidRequest as refusal:
            form.refuse(refusal)
        else:
            return context.go(f"events/{event_id}/cards", "The file is being made. You may leave this page.")
    return await _page(context, event, form, status=422)


@router.get("/events/{event_id}/cards/{ready_id}/file")
async def download(event_id: UUID, ready_id: UUID, context: ConfirmedExporter) -> Response:
    """The file, opened part by part: no more than one is in memory."""
    event = await event_with_tickets(context, event_id)
    await _file_of(context, event_id, ready_id)
    async with context.transaction() as tx:
        job = await card_exports.begin_download(
            tx, context.tenant_id, ready_id, by=context.by, at=context.at, told=context.organization_id
        )

    async def parts() -> AsyncIterator[bytes]:
        for place in range(job.parts):
            async with context.db.autocommit() as tx:
                part = await card_exports.read_part(tx, context.tenant_id, job.id, place, context.vault)
            yield part

    media_type = "application/pdf" if job.kind is ExportKind.PDF else "text/csv; charset=utf-8"
    return StreamingResponse(
        parts(), media_type=media_type, headers=_as_file(card_exports.name_of(job.kind, event.event.title), job.size)
    )


@router.post("/events/{event_id}/cards/{export_id}/stop")
async def stop(event_id: UUID, export_id: UUID, context: Exporter) -> Response:
    await _file_of(context, event_id, export_id)
    async with context.tenant_transaction() as tx:
        await card_exports.stop(tx, context.tenant_id, export_id, by=context.by, at=context.at)
    return context.go(f"events/{event_id}/cards", "The file is not made. What was made of it is gone.")


@router.post("/events/{event_id}/cards/{ready_id}/delete")
async def delete(event_id: UUID, ready_id: UUID, context: Exporter) -> Response:
    await _file_of(context, event_id, ready_id)
    async with context.tenant_transaction() as tx:
        await card_exports.delete(tx, context.tenant_id, ready_id, by=context.by, at=context.at)
    return context.go(f"events/{event_id}/cards", "The file is deleted.")


async def _file_of(context: Context, event_id: UUID, export_id: UUID) -> CardExport:
    async with context.db.autocommit() as tx:
        job = await card_exports.find(tx, context.tenant_id, export_id)
    if job.event_id != event_id:
        raise ExportNotFound
    return job


@router.post("/tickets/{unused_id}/print")
async def print_card(unused_id: UUID, context: ConfirmedWriter) -> Response:
    """The card of this ticket as a PDF, at once."""
    wanted = (await context.form()).read(SingleForm) or SingleForm()
    async with context.tenant_transaction() as tx:
        ticket = await tickets.find(tx, context.tenant_id, unused_id)
        event, card = await card_exports.print_one(
            tx, context.tenant_id, ticket.card_id, unused_id, context.vault,
            until=context.at + timedelta(days=wanted.days), with_name=context.sight.sees(GuestField.NAME),
            by=context.by, at=context.at,
        )  # fmt: skip
    content = await asyncio.to_thread(_drawn, event, card, wanted.layout)
    name = f"card-{card.number.replace(' ', '-')}.pdf"
    return Response(content, media_type="application/pdf", headers=_as_file(name, len(content)))


def _drawn(event: PrintedEvent, card: PrintedCard, layout: Layout) -> bytes:
    from gatepass.domain.card_sheets.pages import draw  # noqa: PLC0415  half a second, and few processes ever need it

    return draw(event, [card], layout)


def _as_file(name: str, size: int) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)}
