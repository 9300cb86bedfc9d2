"""Every request to the studio: request id, security headers with the Content-Security-Policy, CSRF check, log line."""

import logging
import re
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gatepass.base.client_ip import caller_address
from gatepass.base.ids import new_id, request_text
from gatepass.base.log import logger
from gatepass.base.security_headers import origin_of, security_headers
from gatepass.studio.services.studio import Studio
from gatepass.studio.web.security_events import note_cross_site

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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
# Sign-in and invitation links have their secret in the path.
SECRET_LINK: Final = re.compile(r"^(/studio/(?:link|welcome)/)[^/]+")
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

log = logger(__name__)


class Middleware:
    def __init__(self, app: ASGIApp, studio: Studio) -> None:
        self._app = app
        self.studio = studio
        self._origin = origin_of(studio.settings.public_url)
        self._headers = {**HEADERS, **security_headers(studio.settings.public_url)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        id = request_text(new_id())
        scope["gatepass.request_id"] = id
        scope["gatepass.address"] = caller_address(scope, self.studio.settings.trusted_proxies)
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(MutableHeaders(scope=message), id)
            await send(message)

        structlog.contextvars.bind_contextvars(request_id=id)
        if scope["method"] not in READS and not is_same_origin(Headers(scope=scope), self._origin):
            await note_cross_site(Request(scope), self.studio)
            app = PlainTextResponse("This request came from another site. Open the studio and try again.\n", 403)
        else:
            app = self._app
        await app(scope, receive, send_on)
        level = logging.WARNING if status >= 500 else logging.DEBUG
        log.log(level, "page", request_id=id, method=scope["method"], path=loggable(scope["path"]), status=status)

    def _add_headers(self, headers: MutableHeaders, id: str) -> None:
        for name, value in self._headers.items():
            headers.setdefault(name, value)
        headers["x-request-id"] = id


def loggable(path: str) -> str:
    """The path without the secret of a link."""
    return SECRET_LINK.sub(r"\1…", path)


def is_same_origin(headers: Headers, ours: str) -> bool:
    """The CSRF check: whether our own page sent the request. Browsers set these headers, and no page can forge them.

    Without TLS, and not on localhost, browsers send only the origin. It must be that of the public URL: the Host header
    is the caller's, has no scheme, and a proxy may rewrite it.
    """
    site = headers.get("sec-fetch-site")
    return site == "same-origin" if site is not None else headers.get("origin") == ours
