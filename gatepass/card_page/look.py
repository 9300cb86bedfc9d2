"""What the organizer chose, for browsers: the colour as a stylesheet, the logo, and the manifest to install the page.

The Content-Security-Policy allows no style in the page itself, so the colour has an address of its own.
"""

from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from gatepass.card_page.templates import static_url
from gatepass.card_page.visit import Visitor
from gatepass.domain import card_look, organizations
from gatepass.domain.card_look import CardLook

READS: Final = ["GET", "HEAD"]
# The bytes were uploaded, so the headers allow a browser nothing but to show them.
LOGO_HEADERS: Final = {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}

router = APIRouter()


@router.api_route("/{token}/look.css", methods=READS)
async def stylesheet(visit: Visitor) -> Response:
    look = await _look(visit)
    return Response(f":root{{--brand:{look.colour};--brand-ink:{look.ink}}}\n", media_type="text/css")


@router.api_route("/{token}/logo/{logo_id}", methods=READS)
async def logo(visit: Visitor, logo_id: UUID) -> Response:
    async with visit.db.autocommit() as tx:
        found = await card_look.find_logo(tx, visit.link.organization_id, logo_id)
    if found is None:
        raise HTTPException(404)
    return Response(found.content, media_type=found.kind.media_type, headers=LOGO_HEADERS)


@router.api_route("/{token}/manifest.webmanifest", methods=READS)
async def manifest(visit: Visitor) -> Response:
    async with visit.db.autocommit() as tx:
        look = await card_look.find(tx, visit.link.organization_id)
        organization = await organizations.find(tx, visit.link.organization_id)
    name = organization.name if organization is not None else ""
    content = {
        "id": f"/c/{visit.token}",
        "name": name,
        "short_name": name[:12],
        "start_url": f"/c/{visit.token}",
        "scope": f"/c/{visit.token}",
        "display": "standalone",
        "theme_color": look.colour,
        "background_color": "#f3f5f5",
        "icons": [{"src": static_url("icon.svg"), "sizes": "any", "type": "image/svg+xml"}],
    }
    return JSONResponse(content, media_type="application/manifest+json")


async def _look(visit: Visitor) -> CardLook:
    async with visit.db.autocommit() as tx:
        return await card_look.find(tx, visit.link.organization_id)
