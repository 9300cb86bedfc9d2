"""Every request to a card page: request id, headers with the Content-Security-Policy, CSRF check, log line.

No log has the path: it holds the secret of the link. A line names the route instead, `/{token}`.
"""

from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from gatepass.base.log import logger
from gatepass.base.web.middleware import PageMiddleware, level_of
from gatepass.card_page.errors import CrossSite, refused
from gatepass.card_page.process import CardPages
from gatepass.card_page.wallets import is_wallet_service

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# The URL is the secret: it goes to no other site, into no cache and no index.
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
UNKNOWN_ROUTE: Final = "unknown"

log = logger(__name__)


class Middleware(PageMiddleware):
    def __init__(self, app: ASGIApp, pages: CardPages) -> None:
        super().__init__(app, pages.settings, HEADERS)
        self.pages = pages

    def is_checked(self, scope: Scope) -> bool:
        """A phone that keeps a pass up to date is no browser, and shows the token of the pass."""
        return super().is_checked(scope) and not is_wallet_service(scope["path"])

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A fault is logged here, by its route, and not by the server, which may add the path."""
        try:
            await super().answer(scope, receive, send)
        except Exception:
            log.exception("unhandled", request_id=scope["gatepass.request_id"], route=_route_of(scope))

    async def refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self._app
        response = await refused(Request(scope), CrossSite())
        await response(scope, receive, send)

    def note(self, scope: Scope, id: str, status: int) -> None:
        route = _route_of(scope)
        self.pages.metrics.answers.labels(route, str(status)).inc()
        log.log(level_of(status), "card page", request_id=id, method=scope["method"], route=route, status=status)


def _route_of(scope: Scope) -> str:
    """The template of the path, `/{token}/state`, which holds no secret."""
    return getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
