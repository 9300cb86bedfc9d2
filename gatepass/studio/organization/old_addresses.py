"""Addresses without an organization, as they were once: in bookmarks, letters and documents.

A page is found in the organization of the session. A form is refused: nobody knows for which it was made.
"""

from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from gatepass.domain.keys import Mode
from gatepass.domain.staff import Session
from gatepass.studio.services.templates import ROOT, root_of
from gatepass.studio.web.auth import RedirectRequired, SignedIn
from gatepass.studio.web.tab import MadeElsewhere

# As in OWN_PAGE of auth.py.
UNQUOTED: Final = "-._~!$&'()*+,;=:@/"

router = APIRouter()


@router.get("/live/{rest:path}")
@router.post("/live/{rest:path}")
async def live(request: Request, session: SignedIn, rest: str) -> Response:
    raise _moved(request, session, Mode.LIVE, rest)


@router.get("/sandbox/{rest:path}")
@router.post("/sandbox/{rest:path}")
async def sandbox(request: Request, session: SignedIn, rest: str) -> Response:
    raise _moved(request, session, Mode.SANDBOX, rest)


def _moved(request: Request, session: Session, mode: Mode, rest: str) -> Exception:
    if request.method != "GET":
        return MadeElsewhere(
            "The page that sent this form does not say of which organization it is. What you sent was not done.",
            heading="This form is of an older page",
            page=_page(session, mode, "home"),
        )
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectRequired(_page(session, mode, quote(rest, safe=UNQUOTED) + query))


def _page(session: Session, mode: Mode, rest: str) -> str:
    if session.organization_id is None:
        return f"{ROOT}/organizations"
    return f"{root_of(session.organization_id, mode)}/{rest}"
