"""GET /covers/{id}.{ext}: cover pictures, for everybody.

They are a stranger's bytes, so that a browser may do nothing with them but show them.
"""

from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from gatepass.domain import events
from gatepass.domain.events.picture import Kind
from gatepass.studio.entrance import House, PageNotFound

router = APIRouter()

# What an address shows never changes: another picture has another address.
HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    # Whoever lists the event shows its picture too.
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}


@router.api_route("/covers/{cover_id}.{kind}", methods=["GET", "HEAD"])
async def cover(cover_id: UUID, kind: Kind, request: Request, studio: House) -> Response:
    tag = f'"{cover_id}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**HEADERS, "ETag": tag})
    async with studio.db.reading() as tx:
        found = await events.find_cover(tx, cover_id, kind)
    if found is None:
        raise PageNotFound
    return Response(found.content, media_type=kind.media_type, headers={**HEADERS, "ETag": tag})
