"""What every request for a page goes through, in the studio and on card pages: request id, headers, CSRF check.

Each of the two says how it answers, how it refuses a request from another site, and what it logs.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gatepass.base.client_ip import caller_address
from gatepass.base.ids import new_id, request_text
from gatepass.base.security_headers import is_same_origin, origin_of, security_headers
from gatepass.base.settings import Settings

READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class PageMiddleware(ABC):
    """`headers` are those of every answer that does not set them itself."""

    def __init__(self, app: ASGIApp, settings: Settings, headers: Mapping[str, str]) -> None:
        self._app = app
        self._trusted_proxies = settings.trusted_proxies
        self._origin = origin_of(settings.public_url)
        self._headers = {**headers, **security_headers(settings.public_url)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        id = request_text(new_id())
        scope["gatepass.request_id"] = id
        scope["gatepass.address"] = caller_address(scope, self._trusted_proxies)
        structlog.contextvars.bind_contextvars(request_id=id)
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(MutableHeaders(scope=message), id)
            await send(message)

        if self.is_checked(scope) and not is_same_origin(Headers(scope=scope), self._origin):
            await self.refuse(scope, receive, send_on)
        else:
            await self.answer(scope, receive, send_on)
        self.note(scope, id, status)

    def is_checked(self, scope: Scope) -> bool:
        """Whether it may change something, so that it has to come from our own pages."""
        return scope["method"] not in READS

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @abstractmethod
    async def refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that came from another site."""

    @abstractmethod
    def note(self, scope: Scope, id: str, status: int) -> None:
        """Log a request that was answered."""

    def _add_headers(self, headers: MutableHeaders, id: str) -> None:
        for name, value in self._headers.items():
            headers.setdefault(name, value)
        headers["x-request-id"] = id


def level_of(status: int) -> int:
    """Only faults of ours are worth a line in production."""
    return logging.WARNING if status >= 500 else logging.DEBUG
