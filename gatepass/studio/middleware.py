"""Every request to the studio: request id, security headers with the Content-Security-Policy, CSRF check, log line."""

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from gatepass.base.log import logger
from gatepass.base.web.middleware import PageMiddleware, level_of
from gatepass.studio.services.studio import Studio
from gatepass.studio.web.security_events import note_cross_site

# Frames: the letter that is shown before it is sent is the one answer whose own policy allows to be framed.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Referrer-Policy: with no-referrer, browsers send `Origin: null` with our own forms, which the CSRF check refuses.
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
# These links have their secret in the path: to sign in, to join, to prove an address.
SECRET_LINK: Final = re.compile(r"^(/studio/(?:address|link|welcome)/)[^/]+")
# So have card pages, which a process of the studio may be asked for by mistake.
CARD_PAGES: Final = "/c/"

log = logger(__name__)


class Middleware(PageMiddleware):
    def __init__(self, app: ASGIApp, studio: Studio) -> None:
        super().__init__(app, studio.settings, HEADERS)
        self.studio = studio

    async def refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await note_cross_site(Request(scope), self.studio)
        response = PlainTextResponse("This request came from another site. Open the studio and try again.\n", 403)
        await response(scope, receive, send)

    def note(self, scope: Scope, id: str, status: int) -> None:
        path = loggable(scope["path"])
        log.log(level_of(status), "page", request_id=id, method=scope["method"], path=path, status=status)


def loggable(path: str) -> str:
    """The path without the secret of a link."""
    return CARD_PAGES + "…" if path.startswith(CARD_PAGES) else SECRET_LINK.sub(r"\1…", path)
