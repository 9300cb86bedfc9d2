"""Receiving the file of an import: it is parsed while it arrives, and stored up to 500 rows at a time."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final
from uuid import UUID

from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import new_id, strict_uuid
from gatepass.domain import imports
from gatepass.domain.imports import LARGEST_FILE, CsvReader, CsvRow, FileRefused
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import FormTooLarge
from gatepass.studio.web.parser_thread import parse, pieces
from gatepass.studio.web.upload import Upload

# What is stored at once is encoded for PostgreSQL on the event loop, in 3 ms or less.
ROWS_AT_ONCE: Final = 500
CELLS_AT_ONCE: Final = 2_000
PASTED: Final = "pasted.csv"


async def receive(context: Context, event_id: UUID) -> UUID:
    """Store the file, or the pasted rows, and return the id of the import."""
    if not context.request.headers.get("content-type", "").startswith("multipart/form-data"):
        form = await context.form()
        return await _stage(context, event_id, form.value("upload_key"), PASTED, _once(form.value("pasted")))
    upload = Upload(context.request, largest=LARGEST_FILE)
    await upload.begun()
    key, pasted = upload.fields.get("upload_key", ""), upload.fields.get("pasted", "").strip()
    try:
        if upload.file_name:
            return await _stage(context, event_id, key, upload.file_name, upload.pieces())
        return await _stage(context, event_id, key, PASTED, _once(pasted))
    finally:
        with suppress(InvalidRequest, FormTooLarge):
            await upload.drain()


async def _once(text: str) -> AsyncGenerator[bytes, None]:
    if not text.strip():
        raise FileRefused("Choose a file, or paste rows.")
    yield text.encode(errors="replace")


async def _stage(
    context: Context, event_id: UUID, upload_key: str, file_name: str, chunks: AsyncGenerator[bytes, None]
) -> UUID:
    async with context.tenant_transaction() as tx:
        import_id, is_new = await imports.begin(
            tx,
            context.tenant_id,
            event_id,
            strict_uuid(upload_key) or new_id(),
            file_name,
            by=context.by,
            at=context.at,
        )
    if is_new:
        try:
            await _stage_rows(context, import_id, chunks)
        except BaseException as gone:
            problem = str(gone) if isinstance(gone, FileRefused) else "The upload broke off."
            async with context.db.transaction() as tx:
                await imports.refuse(tx, context.tenant_id, import_id, problem, at=context.studio.clock())
            raise
    return import_id


async def _stage_rows(context: Context, import_id: UUID, chunks: AsyncGenerator[bytes, None]) -> None:
    sheet = CsvReader()
    waiting, cells = list[CsvRow](), 0

    async def stage() -> None:
        async with context.db.transaction() as tx:
            await imports.stage(tx, context.tenant_id, import_id, waiting, at=context.studio.clock())
        waiting.clear()

    async for chunk in chunks:
        for piece in pieces(chunk):
            for row in await parse(sheet.feed, piece):
                waiting.append(row)
                cells += len(row.cells)
                if len(waiting) >= ROWS_AT_ONCE or cells >= CELLS_AT_ONCE:
                    await stage()
                    cells = 0
    waiting += sheet.end()
    if waiting:
        await stage()
    async with context.db.transaction() as tx:
        await imports.received(
            tx, context.tenant_id, import_id, sheet.header, encoding=sheet.encoding, at=context.studio.clock()
        )
