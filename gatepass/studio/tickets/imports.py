"""Imports: a file comes in, its columns are named, it is checked, applied, and undone if it was the wrong one."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from gatepass.base.ids import new_id, strict_uuid
from gatepass.base.refusals import InvalidRequest
from gatepass.domain import events, imports
from gatepass.domain.events import EventNotFound, Listing
from gatepass.domain.imports import Field, FileRefused, Import, ImportNotFound, ImportState
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Permission
from gatepass.studio.downloads import csv_download
from gatepass.studio.entrance import may
from gatepass.studio.form import Form, Line
from gatepass.studio.receiving import receive
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/events/{event_id}/imports")

Importer = Annotated[Visit, may(Permission.TICKETS_IMPORT)]
PAGE: Final = 25
NAMEABLE: Final = (ImportState.MAPPING, ImportState.CHECKED)
FAULTY_SHOWN: Final = 50
SAMPLES: Final = 3
DOWNLOADED_AT_ONCE: Final = 1_000
FIELDS: Final = (
    ("", "Leave this column out"),
    (Field.NAME, "Name of the holder"),
    (Field.EMAIL, "E-mail of the holder"),
    (Field.CATEGORY, "Category or tier"),
    (Field.CARD_NUMBER, "Number of a card that exists"),
    (Field.REFERENCE, "Your own reference"),
)


class Reason(BaseModel):
    reason: Line


async def listing_of(visit: Visit, event_id: UUID) -> Listing:
    """The event, which must be one of the organization's own: files are not imported in the sandbox."""
    if visit.mode is Mode.SANDBOX:
        raise EventNotFound
    async with visit.db.reading() as tx:
        return await events.find(tx, visit.organization_id, event_id)


async def job_of(visit: Visit, event_id: UUID, import_id: UUID) -> Import:
    if visit.mode is Mode.SANDBOX:
        raise ImportNotFound
    async with visit.db.reading() as tx:
        job = await imports.find(tx, visit.organization_id, import_id)
    if job.event_id != event_id:
        raise ImportNotFound
    return job


@router.get("")
async def listing(event_id: UUID, visit: Importer, before: str = "") -> Response:
    return await _list(visit, event_id, Form.of(upload_key=new_id()), before=before)


async def _list(visit: Visit, event_id: UUID, form: Form, *, before: str = "", status: int = 200) -> Response:
    event = await listing_of(visit, event_id)
    async with visit.db.reading() as tx:
        found = await imports.of_event(tx, visit.organization_id, event_id, before=strict_uuid(before), limit=PAGE + 1)
    older = f"?before={found[PAGE - 1].id}" if len(found) > PAGE else None
    return visit.page(
        "imports/list.html", status=status, event=event.event, jobs=found[:PAGE], form=form, older=older,
        is_first=not strict_uuid(before), takes_tickets=event.event.status in imports.TAKES_TICKETS,
    )  # fmt: skip


@router.post("")
async def upload(event_id: UUID, visit: Importer) -> Response:
    await listing_of(visit, event_id)
    try:
        import_id = await receive(visit, event_id)
    except (FileRefused, InvalidRequest) as refusal:
        form = Form.of(upload_key=new_id())
        form.errors["file"] = str(refusal)
        return await _list(visit, event_id, form, status=422)
    return visit.go(f"events/{event_id}/imports/{import_id}")


@router.get("/{import_id}")
async def show(event_id: UUID, import_id: UUID, visit: Importer) -> Response:
    job = await job_of(visit, event_id, import_id)
    if job.state is ImportState.MAPPING:
        return await _mapping(visit, job, None)
    event = await listing_of(visit, event_id)
    async with visit.db.reading() as tx:
        faulty = await imports.faulty_rows(tx, visit.organization_id, import_id, limit=FAULTY_SHOWN)
    return visit.page("imports/show.html", job=job, event=event.event, faulty=faulty, form=Form.of())


@router.get("/{import_id}/columns")
async def columns(event_id: UUID, import_id: UUID, visit: Importer) -> Response:
    """Naming the columns again, after the check."""
    job = await job_of(visit, event_id, import_id)
    return await _mapping(visit, job, None) if job.state in NAMEABLE else visit.go(_place(job))


@router.post("/{import_id}/columns")
async def name_columns(event_id: UUID, import_id: UUID, visit: Importer) -> Response:
    job = await job_of(visit, event_id, import_id)
    form = await visit.form()
    try:
        chosen = [form.value(f"column-{place}") for place in range(len(job.header))]
        named = [Field(name) if name else "" for name in chosen]
        category = strict_uuid(form.value("category_id"))
        async with visit.transaction() as tx:
            await imports.name_columns(tx, visit.organization_id, job, named, category, by=visit.by, at=visit.at)
    except InvalidRequest as refusal:
        form.refuse(refusal)
    except ValueError:
        form.errors["columns"] = "Choose what each column holds from the list."
    else:
        return visit.go(_place(job))
    return await _mapping(visit, job, form)


async def _mapping(visit: Visit, job: Import, form: Form | None) -> Response:
    event = await listing_of(visit, job.event_id)
    async with visit.db.reading() as tx:
        samples = await imports.first_rows(tx, visit.organization_id, job.id, limit=SAMPLES)
        known = job.columns or await imports.remembered(tx, visit.organization_id, job)
    return visit.page(
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


def _first_form(job: Import, named: list[str], event: Listing) -> Form:
    chosen: dict[str, Any] = {f"column-{place}": field for place, field in enumerate(named)}
    only = event.categories[0].id if len(event.categories) == 1 and Field.CATEGORY not in named else None
    return Form.of(category_id=job.category_id or only or "", **chosen)


@router.post("/{checked_id}/apply")
async def apply(event_id: UUID, checked_id: UUID, visit: Importer) -> Response:
    job = await job_of(visit, event_id, checked_id)
    if job.state not in (ImportState.APPLYING, ImportState.DONE):  # sent twice
        async with visit.transaction() as tx:
            await imports.begin_applying(tx, visit.organization_id, checked_id, by=visit.by, at=visit.at)
    return visit.go(_place(job))


@router.post("/{done_id}/undo")
async def undo(event_id: UUID, done_id: UUID, visit: Importer) -> Response:
    job = await job_of(visit, event_id, done_id)
    form = await visit.form()
    wanted = form.read(Reason)
    if wanted is None:
        event = await listing_of(visit, event_id)
        return visit.page("imports/show.html", job=job, event=event.event, faulty=[], form=form, status=422)
    if job.state not in (ImportState.UNDOING, ImportState.UNDONE):
        async with visit.transaction() as tx:
            await imports.begin_undoing(
                tx, visit.organization_id, done_id, by=visit.by, at=visit.at, reason=wanted.reason
            )
    return visit.go(_place(job))


@router.post("/{import_id}/discard")
async def discard(event_id: UUID, import_id: UUID, visit: Importer) -> Response:
    await job_of(visit, event_id, import_id)
    async with visit.transaction() as tx:
        await imports.discard(tx, visit.organization_id, import_id, by=visit.by, at=visit.at)
    return visit.go(f"events/{event_id}/imports", "The import is given up. Nothing was made of it.")


@router.get("/{import_id}/faulty")
async def faulty(event_id: UUID, import_id: UUID, visit: Importer) -> Response:
    """The rows that could not be imported, as they came, with the reason as a last column."""
    job = await job_of(visit, event_id, import_id)

    async def pages() -> AsyncIterator[list[list[str]]]:
        after = 0
        while True:
            async with visit.db.reading() as tx:
                rows = await imports.faulty_rows(
                    tx, visit.organization_id, job.id, after=after, limit=DOWNLOADED_AT_ONCE
                )
            if not rows:
                return
            after = rows[-1].line
            width = len(job.header)
            yield [[*row.cells[:width], *[""] * (width - len(row.cells)), row.fault.sentence] for row in rows]

    return csv_download(f"failed-{job.file_name.rpartition('.')[0] or job.file_name}", [*job.header, "reason"], pages())


@router.get("/{import_id}/progress")
async def progress(event_id: UUID, import_id: UUID, visit: Importer) -> Response:
    """The import as it moves, as server-sent events."""
    await job_of(visit, event_id, import_id)

    async def told() -> AsyncGenerator[str, None]:
        async for job in visit.studio.progress.follow(visit.organization_id, import_id):
            fact = {
                "state": job.state, "share": round(job.share, 4), "under_way": job.state.is_under_way,
                "rows": job.row_count, "faulty": job.faulty, "made": job.tickets_made, "removed": job.tickets_removed,
            }  # fmt: skip
            yield f"data: {json.dumps(fact)}\n\n"

    return StreamingResponse(told(), media_type="text/event-stream")


def _place(job: Import) -> str:
    return f"events/{job.event_id}/imports/{job.id}"
