"""The router: it gives each request an id, checks its key and scope, and calls its handler."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import httpx2

from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._platform.records import DeviceRecord
from gatepass_sdk.testing._platform.tickets import cancel_tickets_of_cancelled_events
from gatepass_sdk.testing._replays import settle
from gatepass_sdk.testing._route_table import ADMIN, DEVICE, FOR_DEVICES, ROUTES
from gatepass_sdk.testing._state import World

BASE_PATH: Final = "/api/public/v1"
BEARER: Final = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] (\S+)")
# The service refuses a request that has one of these twice before it looks at its key.
ONCE: Final = ("authorization", "content-type", "idempotency-key", "if-match", "cookie", "origin", "sec-fetch-site")
# Blanks around the value of a header are none of it.
OWS: Final = " \t"
# Calls per second, and burst.
RATES: Final = {"live": (100, 200), "sandbox": (25, 50)}

PATTERNS: Final = {path: re.compile(re.sub(r"\{\w+\}", "([^/]+)", path)) for path in ROUTES}


@dataclass(frozen=True)
class Caller:
    mode: str
    scopes: frozenset[str]
    device: DeviceRecord | None = None

    @property
    def is_alive(self) -> bool:
        return self.device is None or self.device.status != "revoked"

    def require(self, template: str, scope: str) -> None:
        """A device's key opens little, and that of a retired one only what is for devices alone."""
        if scope == DEVICE:
            if self.device is None:
                raise Refused("insufficient_scope", "Only the key of a device opens this endpoint.")
            return
        retired = self.device is not None and self.device.status == "retired"
        if retired or not self.scopes & {scope, ADMIN}:
            raise Refused("insufficient_scope", f"This API key lacks the scope {scope}.")
        if self.device is not None and template not in FOR_DEVICES:
            raise Refused("insufficient_scope", "The key of a device does not open this endpoint.")


def receive(
    world: World, callers: Mapping[str, Caller], request: httpx2.Request, fault: Refused | None = None
) -> httpx2.Response:
    """The response to a request. With a `fault`, that refusal."""
    id = world.new_id()
    if twice := next((name for name in ONCE if len(request.headers.get_list(name)) > 1), None):
        reply = invalid(f"The request has more than one header {twice}.").reply()
        headers = {**reply.headers, "content-type": "application/json", "cache-control": "no-store"}
        return httpx2.Response(reply.status, headers={**headers, "x-request-id": f"req_{id.hex}"}, content=reply.raw())
    caller = _caller(callers, request)
    path = request.url.path.removeprefix(BASE_PATH)
    try:
        if fault is not None:
            raise fault
        if caller is None or not caller.is_alive:
            raise Refused("invalid_key")
        cancel_tickets_of_cancelled_events(world, world.sides[caller.mode])
        settle(world, world.sides[caller.mode])
        reply = _call_handler(world, caller, request, path, id)
    except Refused as refused:
        reply = refused.reply()
    headers = {**reply.headers, "x-request-id": f"req_{id.hex}"}
    if reply.content is not None:
        headers["content-type"] = "application/json"
    if caller is not None:
        headers |= _rate_headers(caller.mode, "scan" if path == "/scan" else "default")
    return httpx2.Response(reply.status, headers=headers, content=reply.raw())


def _caller(callers: Mapping[str, Caller], request: httpx2.Request) -> Caller | None:
    found = BEARER.fullmatch(_header(request, "authorization") or "")
    return callers.get(found[1]) if found else None


def _call_handler(world: World, caller: Caller, request: httpx2.Request, path: str, id: UUID) -> Reply:
    matching = [(template, found) for template, pattern in PATTERNS.items() if (found := pattern.fullmatch(path))]
    if not matching:
        raise Refused("not_found")
    if path in ROUTES:  # and no other route takes its last part for an id
        matching = [one for one in matching if one[0] == path]
    for template, found in matching:
        if request.method in ROUTES[template]:
            scope, handler = ROUTES[template][request.method]
            caller.require(template, scope)
            return handler(world, _request(caller, request, found.groups(), id))
    raise Refused("method_not_allowed", headers={"allow": ", ".join(sorted(ROUTES[matching[0][0]]))})


def _request(caller: Caller, request: httpx2.Request, ids: tuple[str, ...], id: UUID) -> Request:
    return Request(
        id=id,
        method=request.method,
        mode=caller.mode,
        url=str(request.url.copy_with(query=None)),
        ids=ids,
        query=dict(request.url.params.multi_items()),
        idempotency_key=_header(request, "idempotency-key"),
        if_match=_header(request, "if-match"),
        if_none_match=_header(request, "if-none-match"),
        scopes=caller.scopes,
        body=request.content,
        device=caller.device,
    )


def _header(request: httpx2.Request, name: str) -> str | None:
    value = request.headers.get(name)
    return None if value is None else value.strip(OWS)


def _rate_headers(mode: str, name: str) -> dict[str, str]:
    """The values of a full bucket after one call: a fake counts no calls."""
    per_second, burst = RATES[mode]
    return {
        "ratelimit": f'"{name}";r={burst - 1};t=1',
        "ratelimit-policy": f'"{name}";q={burst};w={burst // per_second}',
        "cache-control": "no-store",
    }
