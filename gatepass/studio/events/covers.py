"""GET /covers/{letter}.{id}.{ext}: cover pictures, public. The letter is for the edge, and older URLs have none.

The bytes were uploaded, so the headers allow a browser nothing but to show them.
"""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from gatepass.base.ids import strict_uuid
from gatepass.domain import events
from gatepass.domain.cell import without_letter
from gatepass.domain.events.image_format import ImageFormat
from gatepass.studio.web.auth import CurrentStudio
from gatepass.studio.web.tab import PageNotFound

router = APIRouter()

# Immutable: another picture has another URL.
HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    # Other sites that list the event show its picture.
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}


@router.api_route("/covers/{name}.{kind}", methods=["GET", "HEAD"])
async def cover(name: str, kind: ImageFormat, request: Request, studio: CurrentStudio) -> Response:
    cover_id = strict_uuid(without_letter(name))
    if cover_id is None:
        raise PageNotFound
    tag = f'"{cover_id}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**HEADERS, "ETag": tag})
    async with studio.db.autocommit() as tx:
        found = await events.find_cover(tx, cover_id, kind)
    if found is None:
        raise PageNotFound
    return Response(found.content, media_type=kind.media_type, headers={**HEADERS, "ETag": tag})
