"""Imports: upload a file, name its columns, check it, apply it, and undo it if it was the wrong one."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import new_id, strict_uuid
from gatepass.domain import imports
from gatepass.domain.events import CatalogueEntry
from gatepass.domain.imports import Field, FileRefused, Import, ImportNotFound, ImportState
from gatepass.domain.staff import Permission
from gatepass.studio.tickets.import_upload import receive
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.csv_download import csv_download
from gatepass.studio.web.forms import Form, Reason
from gatepass.studio.web.page_event import event_with_tickets

router = APIRouter(prefix="/events/{event_id}/imports")

Importer = Annotated[Context, may(Permission.TICKETS_IMPORT)]
# It takes back every ticket and card of a file.
ConfirmedImporter = Annotated[Context, may(Permission.TICKETS_IMPORT, confirmed=True)]
PAGE: Final = 25
NAMEABLE: Final = (ImportState.MAPPING, ImportState.CHECKED)
COMPANIONS: Final = "companions"
FAULTY_SHOWN: Final = 50
SAMPLES: Final = 3
DOWNLOADED_AT_ONCE: Final = 1_000
FIELDS: Final = (
    ("", "Leave this column out"),
    (Field.NAME, "Name of the holder, or the first name"),
    (Field.LAST_NAME, "Last name of the holder"),
    (Field.EMAIL, "E-mail of the holder"),
    (Field.CATEGORY, "Category or tier"),
    (Field.CARD_NUMBER, "Number of a card that exists"),
    (Field.REFERENCE, "External id"),
)


async def job_of(context: Context, event_id: UUID, import_id: UUID) -> Import:
    async with context.db.autocommit() as tx:
        job = await imports.find(tx, context.tenant_id, import_id)
    if job.event_id != event_id:
        raise ImportNotFound
    return job


@router.get("")
async def listing(event_id: UUID, context: Importer, before: str = "") -> Response:
    return await _list(context, event_id, Form.of(upload_key=new_id()), before=before)


async def _list(context: Context, event_id: UUID, form: Form, *, before: str = "", status: int = 200) -> Response:
    event = await event_with_tickets(context, event_id)
    async with context.db.autocommit() as tx:
        found = await imports.of_event(tx, context.tenant_id, event_id, before=strict_uuid(before), limit=PAGE + 1)
    older = f"?before={found[PAGE - 1].id}" if len(found) > PAGE else None
    return context.page(
        "imports/list.html", status=status, event=event.event, jobs=found[:PAGE], form=form, older=older,
        is_first=not strict_uuid(before), takes_tickets=event.event.status in imports.TAKES_TICKETS,
        zone=event.event.time_zone,
    )  # fmt: skip


@router.post("")
async def upload(event_id: UUID, context: Importer) -> Response:
    await event_with_tickets(context, event_id)
    try:
        import_id = await receive(context, event_id)
    except (FileRefused, InvalidRequest) as refusal:
        form = Form.of(upload_key=new_id())
        form.errors["file"] = str(refusal)
        return await _list(context, event_id, form, status=422)
    return context.go(f"events/{event_id}/imports/{import_id}")


@router.get("/{import_id}")
async def show(event_id: UUID, import_id: UUID, context: Importer) -> Response:
    job = await job_of(context, event_id, import_id)
    if job.state is ImportState.MAPPING:
        return await _mapping(context, job, None)
    event = await event_with_tickets(context, event_id)
    async with context.db.autocommit() as tx:
        faulty = await imports.faulty_rows(tx, context.tenant_id, import_id, limit=FAULTY_SHOWN)
    return context.page(
        "imports/show.html", job=job, event=event.event, faulty=faulty, form=Form.of(), zone=event.event.time_zone
    )


@router.get("/{import_id}/columns")
async def columns(event_id: UUID, import_id: UUID, context: Importer) -> Response:
    """Name the columns again, after the check."""
    job = await job_of(context, event_id, import_id)
    return await _mapping(context, job, None) if job.state in NAMEABLE else context.go(_place(job))


@router.post("/{import_id}/columns")
async def name_columns(event_id: UUID, import_id: UUID, context: Importer) -> Response:
    job = await job_of(context, event_id, import_id)
    form = await context.form()
    try:
        chosen = [form.value(f"column-{place}") for place in range(len(job.header))]
        named = [Field(name) if name else "" for name in chosen]
        category = strict_uuid(form.value("category_id"))
        async with context.tenant_transaction() as tx:
            await imports.name_columns(
                tx, context.tenant_id, job, named, category, companions=form.value("guests") == COMPANIONS,
                by=context.by, at=context.at,
            )  # fmt: skip
    except InvalidRequest as refusal:
        form.refuse(refusal)
    except ValueError:
        form.errors["columns"] = "Choose what each column holds from the list."
    else:
        return context.go(_place(job))
    return await _mapping(context, job, form)


async def _mapping(context: Context, job: Import, form: Form | None) -> Response:
    event = await event_with_tickets(context, job.event_id)
    async with context.db.autocommit() as tx:
        samples = await imports.first_rows(tx, context.tenant_id, job.id, limit=SAMPLES)
        known = job.columns or await imports.remembered(tx, context.tenant_id, job)
    return context.page(
        "imports/columns.html",
        status=422 if form else 200,
        job=job,
        event=event.event,
        categories=event.categories,
        samples=[[row[place] if place < len(row) else "" for row in samples] for place in range(len(job.header))],
        remembered=known is not None,
        form=form or _first_form(job, known or imports.guess(job.header), event),
        fields=FIELDS,
    )


def _first_form(job: Import, named: list[str], event: CatalogueEntry) -> Form:
    chosen: dict[str, Any] = {f"column-{place}": field for place, field in enumerate(named)}
    only = event.categories[0].id if len(event.categories) == 1 and Field.CATEGORY not in named else None
    guests = COMPANIONS if job.companions else ""
    return Form.of(category_id=job.category_id or only or "", guests=guests, **chosen)


@router.post("/{checked_id}/apply")
async def apply(event_id: UUID, checked_id: UUID, context: Importer) -> Response:
    job = await job_of(context, event_id, checked_id)
    if job.state not in (ImportState.APPLYING, ImportState.DONE):  # a form that was sent twice
        async with context.tenant_transaction() as tx:
            await imports.begin_applying(tx, context.tenant_id, checked_id, by=context.by, at=context.at)
    return context.go(_place(job))


@router.post("/{done_id}/undo")
async def undo(event_id: UUID, done_id: UUID, context: ConfirmedImporter) -> Response:
    job = await job_of(context, event_id, done_id)
    form = await context.form()
    wanted = form.read(Reason)
    if wanted is None:
        event = await event_with_tickets(context, event_id)
        return context.page(
            "imports/show.html",
            job=job,
            event=event.event,
            faulty=[],
            form=form,
            status=422,
            zone=event.event.time_zone,
        )
    if job.state not in (ImportState.UNDOING, ImportState.UNDONE):
        async with context.tenant_transaction() as tx:
            await imports.begin_undoing(
                tx, context.tenant_id, done_id, by=context.by, at=context.at, reason=wanted.reason
            )
    return context.go(_place(job))


@router.post("/{import_id}/discard")
async def discard(event_id: UUID, import_id: UUID, context: Importer) -> Response:
    await job_of(context, event_id, import_id)
    async with context.tenant_transaction() as tx:
        await imports.discard(tx, context.tenant_id, import_id, by=context.by, at=context.at)
    return context.go(f"events/{event_id}/imports", "The import is given up. Nothing was made of it.")


@router.get("/{import_id}/faulty")
async def faulty(event_id: UUID, import_id: UUID, context: Importer) -> Response:
    """The rows that could not be imported, as in the file, with the reason as the last column."""
    job = await job_of(context, event_id, import_id)

    async def pages() -> AsyncIterator[list[list[str]]]:
        after = 0
        while True:
            async with context.db.autocommit() as tx:
                rows = await imports.faulty_rows(tx, context.tenant_id, job.id, after=after, limit=DOWNLOADED_AT_ONCE)
            if not rows:
                return
            after = rows[-1].line
            width = len(job.header)
            yield [[*row.cells[:width], *[""] * (width - len(row.cells)), row.fault.sentence] for row in rows]

    await context.note_export("import", import_id, "failed_rows")
    return csv_download(f"failed-{job.file_name.rpartition('.')[0] or job.file_name}", [*job.header, "reason"], pages())


@router.get("/{import_id}/progress")
async def progress(event_id: UUID, import_id: UUID, context: Importer) -> Response:
    """The progress of an import as server-sent events."""
    await job_of(context, event_id, import_id)

    async def messages() -> AsyncGenerator[str, None]:
        async for job in context.studio.import_progress.follow(context.tenant_id, import_id):
            fact = {
                "state": job.state, "share": round(job.share, 4), "under_way": job.state.is_under_way,
                "rows": job.row_count, "faulty": job.faulty, "made": job.tickets_made, "removed": job.tickets_removed,
            }  # fmt: skip
            yield f"data: {json.dumps(fact)}\n\n"

    return StreamingResponse(messages(), media_type="text/event-stream")


def _place(job: Import) -> str:
    return f"events/{job.event_id}/imports/{job.id}"
