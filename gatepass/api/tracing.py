"""The server spans of calls that are traced, by OpenTelemetry's conventions for HTTP.

This stands inside the middleware, which has made the call, and only if tracing is on. `url.path` is left out, although
the conventions want it: a path may hold a card number.
"""

from collections.abc import Awaitable
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from gatepass.api.middleware import HUNG_UP
from gatepass.api.request import UNKNOWN_PATH, ApiCall
from gatepass.api.responses import InternalError
from gatepass.base.settings import BASE_PATH
from gatepass.base.tracing.span import Span, current_span
from gatepass.base.tracing.tracer import Tracer

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
OTHER: Final = "_OTHER"


class CallTracing:
    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        self._app = app
        self._tracer = tracer

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """A plain function, so that a call that is not traced has no coroutine more."""
        if scope["type"] == "http":
            call: ApiCall = scope["gatepass.call"]
            # Our own traces have the id of the request, so that whoever has one has the other.
            span = self._tracer.call(scope["headers"], call.id, call.method)
            if span is not None:
                return self._traced(span, call, scope, receive, send)
        return self._app(scope, receive, send)

    async def _traced(self, span: Span, call: ApiCall, scope: Scope, receive: Receive, send: Send) -> None:
        current_span.set(span)
        bind_contextvars(trace_id=span.trace_id)
        try:
            await self._app(scope, receive, send)
        except ClientDisconnect:
            self._end(span, call, scope["scheme"], call.status or HUNG_UP, None)
            raise
        except BaseException:
            self._end(span, call, scope["scheme"], call.status or 500, InternalError.code)
            raise
        self._end(span, call, scope["scheme"], call.status, call.code)

    def _end(self, span: Span, call: ApiCall, scheme: str, status: int, code: str | None) -> None:
        method = call.method if call.method in METHODS else OTHER
        span.name = "HTTP" if method == OTHER else method
        span.attributes |= {
            "http.request.method": method,
            "http.response.status_code": status,
            "url.scheme": scheme,
            "gatepass.request.id": call.request_id,
        }
        if call.path != UNKNOWN_PATH:
            span.attributes["http.route"] = BASE_PATH + call.path
            span.name += f" {BASE_PATH}{call.path}"
        if call.caller is not None:
            span.attributes["gatepass.organization.id"] = str(call.caller.organization_id)
            span.attributes["gatepass.mode"] = call.caller.mode
        if code is not None:
            span.attributes["gatepass.code"] = code
        if status >= 500:
            span.fail_with(call.cause or code or str(status))
        self._tracer.end(span)
