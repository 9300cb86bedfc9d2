"""Taking a file in: it is read while it arrives, and put aside some thousand rows at a time."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final
from uuid import UUID

from gatepass.base.ids import new_id, strict_uuid
from gatepass.base.refusals import InvalidRequest
from gatepass.domain import imports
from gatepass.domain.imports import LARGEST_FILE, FileRefused, Row, Sheet
from gatepass.studio.form import FormTooLarge
from gatepass.studio.upload import LARGEST_FIELDS, Upload
from gatepass.studio.visit import Visit

# Some hundred kilobytes.
ROWS_AT_ONCE: Final = 2_000
PASTED: Final = "pasted.csv"


async def receive(visit: Visit, event_id: UUID) -> UUID:
    """Take in the file, or the rows that were pasted; the import that it became."""
    if not visit.request.headers.get("content-type", "").startswith("multipart/form-data"):
        form = await visit.form(most=LARGEST_FIELDS)
        return await _stage(visit, event_id, form.value("upload_key"), PASTED, _once(form.value("pasted")))
    upload = Upload(visit.request, largest=LARGEST_FILE)
    await upload.begun()
    key, pasted = upload.fields.get("upload_key", ""), upload.fields.get("pasted", "").strip()
    try:
        if upload.file_name:
            return await _stage(visit, event_id, key, upload.file_name, upload.pieces())
        return await _stage(visit, event_id, key, PASTED, _once(pasted))
    finally:
        with suppress(InvalidRequest, FormTooLarge):
            await upload.drain()


async def _once(text: str) -> AsyncGenerator[bytes, None]:
    if not text.strip():
        raise FileRefused("Choose a file, or paste rows.")
    yield text.encode(errors="replace")


async def _stage(
    visit: Visit, event_id: UUID, upload_key: str, file_name: str, pieces: AsyncGenerator[bytes, None]
) -> UUID:
    async with visit.transaction() as tx:
        import_id, is_new = await imports.begin(
            tx,
            visit.organization_id,
            event_id,
            strict_uuid(upload_key) or new_id(),
            file_name,
            by=visit.by,
            at=visit.at,
        )
    if is_new:
        try:
            await _stage_rows(visit, import_id, pieces)
        except BaseException as gone:
            problem = str(gone) if isinstance(gone, FileRefused) else "The upload broke off."
            async with visit.db.transaction() as tx:
                await imports.refuse(tx, visit.organization_id, import_id, problem, at=visit.studio.clock())
            raise
    return import_id


async def _stage_rows(visit: Visit, import_id: UUID, pieces: AsyncGenerator[bytes, None]) -> None:
    sheet, waiting = Sheet(), list[Row]()

    async def stage() -> None:
        async with visit.db.transaction() as tx:
            await imports.stage(tx, visit.organization_id, import_id, waiting, at=visit.studio.clock())
        waiting.clear()

    async for piece in pieces:
        waiting += sheet.feed(piece)
        if len(waiting) >= ROWS_AT_ONCE:
            await stage()
    waiting += sheet.end()
    if waiting:
        await stage()
    async with visit.db.transaction() as tx:
        await imports.received(tx, visit.organization_id, import_id, sheet.header, at=visit.studio.clock())
