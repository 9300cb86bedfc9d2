"""CSV downloads: streamed page by page, and safe to open in a spreadsheet."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from starlette.responses import StreamingResponse

from gatepass.base.text import safe_line

NOT_IN_A_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
# Without it Excel does not read the file as UTF-8.
BYTE_ORDER_MARK: Final = "\ufeff"


def csv_download(
    name: str, header: Sequence[str], pages: AsyncIterator[Iterable[Sequence[str | None]]]
) -> StreamingResponse:
    """A file of this name. Only one of the `pages` is in memory at a time."""
    file_name = NOT_IN_A_FILE_NAME.sub("-", name).strip("-")[:80] or "download"

    async def written() -> AsyncIterator[str]:
        yield BYTE_ORDER_MARK + _lines([header])
        async for page in pages:
            yield _lines(page)

    return StreamingResponse(
        written(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{file_name}.csv"'},
    )


def _lines(rows: Iterable[Sequence[str | None]]) -> str:
    return "".join(safe_line(row) for row in rows)
