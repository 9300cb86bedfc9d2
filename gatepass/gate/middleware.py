"""Every request for the scanner: request id, headers with the Content-Security-Policy, log line."""

from typing import Final

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from gatepass.base.log import logger
from gatepass.base.settings import Settings
from gatepass.base.web.middleware import PageMiddleware, level_of
from gatepass.gate.errors import cross_site

# The decoder of the camera's pictures is WebAssembly, which needs `wasm-unsafe-eval`; no script may be made of text.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "media-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), screen-wake-lock=(self), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}

log = logger(__name__)


class Middleware(PageMiddleware):
    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(app, settings, HEADERS)
        self.state = app.state

    async def refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await cross_site()(scope, receive, send)

    def note(self, scope: Scope, id: str, status: int) -> None:
        log.log(level_of(status), "scanner", request_id=id, method=scope["method"], path=scope["path"], status=status)
