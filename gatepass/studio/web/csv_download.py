"""CSV for downloading: written page by page as it is read, and safe to open in a spreadsheet."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from starlette.responses import StreamingResponse

from gatepass.base.csv_text import safe_line

NOT_IN_A_FILE_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
# Without it Excel takes UTF-8 for something else.
BYTE_ORDER_MARK: Final = "\ufeff"


def csv_download(name: str, header: Sequence[str], pages: AsyncIterator[Iterable[Sequence[str]]]) -> StreamingResponse:
    """A file of this name. `pages` are read one after another, and never held together."""
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


def _lines(rows: Iterable[Sequence[str]]) -> str:
    return "".join(safe_line(row) for row in rows)
