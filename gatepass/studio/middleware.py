"""Every request to the studio passes here: it gets an id and headers, and is refused if another site sent it."""

import logging
import re
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gatepass.base.address import caller_address
from gatepass.base.ids import new_id, request_text
from gatepass.base.log import logger
from gatepass.studio.house import Studio

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A browser that is told no-referrer sends `Origin: null` with a form of our own.
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
STRICT_TRANSPORT: Final = "max-age=31536000"
# Links that let people in carry their secret in the path.
SECRET_LINK: Final = re.compile(r"^(/studio/(?:link|welcome)/)[^/]+")
READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

log = logger(__name__)


class Reception:
    def __init__(self, app: ASGIApp, studio: Studio) -> None:
        self._app = app
        self.studio = studio
        self._over_tls = studio.settings.public_url.startswith("https:")

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

        if scope["method"] not in READS and not is_from_us(Headers(scope=scope)):
            refused = PlainTextResponse("This request came from another site. Open the studio and try again.\n", 403)
            await refused(scope, receive, send_on)
        else:
            await self._app(scope, receive, send_on)
        level = logging.WARNING if status >= 500 else logging.DEBUG
        log.log(level, "page", request_id=id, method=scope["method"], path=loggable(scope["path"]), status=status)

    def _add_headers(self, headers: MutableHeaders, id: str) -> None:
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        headers["x-request-id"] = id
        if self._over_tls:
            headers["Strict-Transport-Security"] = STRICT_TRANSPORT


def loggable(path: str) -> str:
    """The path without what would let somebody in."""
    return SECRET_LINK.sub(r"\1…", path)


def is_from_us(headers: Headers) -> bool:
    """Whether a page of ours sent this. Browsers say so, and no page can make them say it of another's."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    # Without TLS, and not on localhost, browsers send only the origin.
    origin = headers.get("origin")
    return origin is not None and origin != "null" and urlsplit(origin).netloc == headers.get("host")
