"""Reception: every request passes here first and last. It gets its id, its headers, its audit row and its log line.

Pure ASGI: nothing between the server and the endpoints costs more than it must.
"""

import logging
from functools import lru_cache
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gatepass.api.call import Call
from gatepass.api.errors import InternalError, answer
from gatepass.api.gatehouse import Gatehouse
from gatepass.base.address import caller_address
from gatepass.base.log import logger
from gatepass.domain.limits import Policy

RATE_LIMITED: Final = 429
HUNG_UP: Final = 499

log = logger(__name__)


class Reception:
    def __init__(self, app: ASGIApp, house: Gatehouse) -> None:
        self._app = app
        self.house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = caller_address(scope, self.house.settings.trusted_proxies)
        call = Call(at=self.house.clock(), method=scope["method"], address=address)
        scope["gatepass.call"] = call

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                call.status = message["status"]
                message["headers"] = [*message["headers"], *_headers_of(call)]
                if call.caller is not None and not call.audited:
                    await self._audit(call)
            try:  # noqa: SIM105  in the path of every scan
                await send(message)
            except (RuntimeError, OSError):  # uvloop raises when the caller has hung up: nobody is left to tell
                pass

        self.house.metrics.in_flight += 1
        try:
            await self._app(scope, receive, send_on)
        except ClientDisconnect:  # the caller hung up; nobody reads an answer, but the audit does
            await Response(status_code=HUNG_UP)(scope, receive, send_on)
        except Exception:
            log.exception("unhandled", request_id=call.request_id, path=call.path)
            if not call.status:
                call.code = InternalError.code
                await answer(InternalError()).response()(scope, receive, send_on)
            elif call.status != 500:  # broken in the middle of an answer: the connection must go
                raise
        finally:
            self.house.metrics.in_flight -= 1
        self.house.metrics.tell(call)
        _log(call)

    async def _audit(self, call: Call) -> None:
        """One row for a call with a known key. A change waits for it; a flood of 429 does not get to."""
        if call.caller is None:
            return
        call.audited = True
        row = call.audit_row(call.caller)
        if call.is_change() and call.status not in (RATE_LIMITED, 500, 503):
            await self.house.trail.record(row)
        else:
            self.house.trail.note(row)


def _log(call: Call) -> None:
    """A call that went well is in the audit; the log is for the others, and for whoever debugs."""
    level = logging.DEBUG if call.status < 400 else logging.INFO if call.status < 500 else logging.WARNING
    if log.is_enabled_for(level):
        log.log(level, "call", **_told(call))


def _told(call: Call) -> dict[str, Any]:
    return {
        "request_id": call.request_id,
        "organization_id": str(call.caller.organization_id) if call.caller else None,
        "key_id": str(call.caller.key_id) if call.caller else None,
        "mode": call.caller.mode if call.caller else None,
        "method": call.method,
        "path": call.path,
        "status": call.status,
        "code": call.code,
        "duration_us": call.elapsed_us(),
    }


def _headers_of(call: Call) -> list[tuple[bytes, bytes]]:
    headers = [(b"x-request-id", call.request_id.encode())]
    if call.standing is not None:
        headers.append((b"ratelimit", call.standing.header().encode()))
        headers.append((b"ratelimit-policy", _policy_header(call.standing.policy)))
        headers.append((b"cache-control", b"no-store"))
    return headers


@lru_cache(1024)
def _policy_header(policy: Policy) -> bytes:
    return policy.header().encode()
