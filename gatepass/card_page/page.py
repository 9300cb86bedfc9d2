"""The page of a card, and its state as JSON. Reading them changes nothing: programs that check mails open links too."""

from typing import Any, Final

import segno
from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from gatepass.base.language import Language
from gatepass.card_page.state import state_of
from gatepass.card_page.visit import Visit, Visitor
from gatepass.card_page.wallets import wallet_paths
from gatepass.domain import card_view
from gatepass.domain.card_view import CardCode, CardView

READS: Final = ["GET", "HEAD"]

router = APIRouter()


@router.api_route("/{token}", methods=READS)
async def page(visit: Visitor) -> Response:
    view = await _view(visit)
    language = visit.language(view.locale)
    state = _state(visit, view, language)
    facts = {"card": state, "path": f"/c/{visit.token}", "code_svg": _svg(view.code)}
    return HTMLResponse(visit.pages.templates.render("page.html", language, facts))


@router.api_route("/{token}/state", methods=READS)
async def state(visit: Visitor) -> Response:
    view = await _view(visit)
    return JSONResponse(_state(visit, view, visit.language(view.locale)))


def _state(visit: Visit, view: CardView, language: Language) -> dict[str, Any]:
    return state_of(view, visit.token, language, wallet_paths(visit.pages, visit.link, visit.token, view))


async def _view(visit: Visit) -> CardView:
    async with visit.db.autocommit() as tx:
        return await card_view.read_view(
            tx, visit.link.organization_id, visit.link.card_id, visit.pages.vault, at=visit.pages.clock()
        )


def _svg(code: CardCode | None) -> Markup | None:
    """The code as a picture in the page itself, for a browser without JavaScript."""
    if code is None:
        return None
    made = segno.make(code.token, error="m", micro=False)
    return Markup(made.svg_inline(border=4, omitsize=True, svgclass="code", lineclass=None))  # noqa: S704  segno's own
