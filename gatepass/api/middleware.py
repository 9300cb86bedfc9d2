"""The middleware gives each request its id, its headers, its row in the request log and its log line.

It is plain ASGI, because every scan passes through it and each microsecond counts.
"""

import logging
from functools import lru_cache
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gatepass.api.malformed import MalformedCalls
from gatepass.api.request import ApiCall
from gatepass.api.responses import InternalError, refusal_reply
from gatepass.api.state import ApiState
from gatepass.base.client_ip import caller_address
from gatepass.base.deadline import begin_call
from gatepass.base.log import logger
from gatepass.base.security_headers import security_headers
from gatepass.domain.limits import Policy

RATE_LIMITED: Final = 429
# These have a line of their own, and a bound on its number (domain/security_log.py).
NOTED: Final = frozenset({401, 403, RATE_LIMITED})
HUNG_UP: Final = 499

log = logger(__name__)


class Middleware:
    def __init__(self, app: ASGIApp, state: ApiState) -> None:
        self._app = app
        self.state = state
        self.malformed = MalformedCalls(state)
        self._security = [
            (name.encode(), value.encode()) for name, value in security_headers(state.settings.public_url).items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = caller_address(scope, self.state.settings.trusted_proxies)
        call = ApiCall(at=self.state.clock(), method=scope["method"], address=address)
        scope["gatepass.call"] = call
        begin_call(self.state.settings.database_deadline)

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                call.status = message["status"]
                message["headers"] = [*message["headers"], *self._security, *_headers_of(call)]
                if call.caller is not None and not call.logged:
                    await self._log_request(call)
            try:  # noqa: SIM105  in the path of every scan
                await send(message)
            except (RuntimeError, OSError):  # uvloop raises when the caller has closed the connection
                pass

        self.state.metrics.in_flight += 1
        try:
            await self._app(scope, receive, send_on)
        except ClientDisconnect:  # nobody reads the reply, but the request log has its status
            await Response(status_code=HUNG_UP)(scope, receive, send_on)
        except Exception:
            log.exception("unhandled", request_id=call.request_id, path=call.path)
            if not call.status:
                call.code = InternalError.code
                await refusal_reply(InternalError()).response()(scope, receive, send_on)
            elif call.status != 500:  # failed in the middle of a reply: close the connection
                raise
        finally:
            self.state.metrics.in_flight -= 1
        self.state.metrics.count(call)
        _log(call)

    async def _log_request(self, call: ApiCall) -> None:
        """Log a call with a known key. A change waits for its row, unless its status is 429, 500 or 503."""
        if call.caller is None:
            return
        call.logged = True
        row = call.log_row(call.caller)
        if call.is_change() and call.status not in (RATE_LIMITED, 500, 503):
            await self.state.request_log.record(row)
        else:
            self.state.request_log.note(row)


def _log(call: ApiCall) -> None:
    """Successful calls are in the request log; here they are logged at debug level only. So is what strangers cause."""
    quiet = call.status < 400 or call.status in NOTED or call.caller is None
    level = logging.WARNING if call.status >= 500 else logging.DEBUG if quiet else logging.INFO
    if log.is_enabled_for(level):
        log.log(level, "call", **_fields(call))


def _fields(call: ApiCall) -> dict[str, Any]:
    return {
        "request_id": call.request_id,
        "organization_id": str(call.caller.organization_id) if call.caller else None,
        "key_id": str(call.caller.key_id) if call.caller else None,
        "mode": call.caller.mode if call.caller else None,
        "method": call.method,
        "path": call.path,
        "status": call.status,
        "code": call.code,
        **({"cause": call.cause} if call.cause else {}),
        "duration_us": call.elapsed_us(),
    }


def _headers_of(call: ApiCall) -> list[tuple[bytes, bytes]]:
    headers = [(b"x-request-id", call.request_id.encode())]
    if call.standing is not None:
        headers.append((b"ratelimit", call.standing.header().encode()))
        headers.append((b"ratelimit-policy", _policy_header(call.standing.policy)))
        headers.append((b"cache-control", b"no-store"))
    return headers


@lru_cache(1024)
def _policy_header(policy: Policy) -> bytes:
    return policy.header().encode()
