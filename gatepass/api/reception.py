"""Reception: every request passes here first and last. It gets its id, its headers, its audit row and its log line.

Pure ASGI: nothing between the server and the routes costs more than it must.
"""

from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gatepass.api.call import Call
from gatepass.api.errors import InternalError, answer
from gatepass.api.gatehouse import Gatehouse
from gatepass.base.log import logger
from gatepass.domain.keys import Address

RATE_LIMITED: Final = 429

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
                _add_headers(call, MutableHeaders(scope=message))
                await self._audit(call)
            # uvloop raises when the caller has hung up; that is not our fault, and nobody is left to tell.
            with suppress(RuntimeError, OSError):
                await send(message)

        with self.house.metrics.in_flight.track_inprogress():
            try:
                await self._app(scope, receive, send_on)
            except Exception:
                log.exception("unhandled", request_id=call.request_id, path=call.path)
                if not call.status:
                    call.code = InternalError.code
                    await answer(InternalError())(scope, receive, send_on)
                elif call.status != 500:  # broken in the middle of an answer: the connection must go
                    raise
        self._tell(call)

    async def _audit(self, call: Call) -> None:
        """One row for a call with a known key. A change waits for it; a flood of 429 does not get to."""
        if call.caller is None or call.audited:
            return
        call.audited = True
        row = call.audit_row(call.caller)
        if call.is_change() and call.status not in (RATE_LIMITED, 500, 503):
            await self.house.trail.record(row)
        else:
            self.house.trail.note(row)

    def _tell(self, call: Call) -> None:
        metrics, mode = self.house.metrics, call.caller.mode if call.caller else "none"
        metrics.calls.labels(call.method, call.path, call.status, mode).inc()
        metrics.seconds.labels(call.method, call.path).observe(call.elapsed_us() / 1_000_000)
        if call.code:
            metrics.refusals.labels(call.code).inc()
        log.info(
            "call",
            request_id=call.request_id,
            organization_id=str(call.caller.organization_id) if call.caller else None,
            key_id=str(call.caller.key_id) if call.caller else None,
            mode=mode,
            method=call.method,
            path=call.path,
            status=call.status,
            code=call.code,
            duration_us=call.elapsed_us(),
        )


def _add_headers(call: Call, headers: MutableHeaders) -> None:
    headers["x-request-id"] = call.request_id
    if call.standing is not None:
        headers["RateLimit"] = call.standing.header()
        headers["RateLimit-Policy"] = call.standing.policy.header()
        headers.setdefault("Cache-Control", "no-store")


def caller_address(scope: Scope, trusted: Sequence[IPv4Network | IPv6Network]) -> Address | None:
    """Who connected; behind a proxy that we trust, the last address in X-Forwarded-For that is not one of ours."""
    address = _parsed(scope["client"][0]) if scope.get("client") else None
    if not trusted or address is None:
        return address
    hops = [hop.strip() for line in Headers(scope=scope).getlist("x-forwarded-for") for hop in line.split(",")]
    while hops and address is not None and any(address in network for network in trusted):
        address = _parsed(hops.pop())
    return address


def _parsed(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
