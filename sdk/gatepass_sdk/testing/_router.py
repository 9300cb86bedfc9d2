"""The router: it gives each request an id, checks its key and scope, and calls its handler."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import httpx2

from gatepass_sdk.testing._cards import card_keys, verify_card
from gatepass_sdk.testing._deliveries import list_deliveries, retrieve_delivery
from gatepass_sdk.testing._endpoints import (
    create_endpoint,
    delete_endpoint,
    list_endpoints,
    ping_endpoint,
    retrieve_endpoint,
    rotate_secret,
    update_endpoint,
)
from gatepass_sdk.testing._events import list_events, retrieve_event
from gatepass_sdk.testing._http import Refused, Reply, Request
from gatepass_sdk.testing._messages import list_messages
from gatepass_sdk.testing._replays import list_replays, replay, settle
from gatepass_sdk.testing._scans import scan
from gatepass_sdk.testing._state import World

BASE_PATH: Final = "/api/public/v1"
ADMIN: Final = "admin"
BEARER: Final = re.compile(r"[Bb]earer +(\S+)")
# Calls per second, and burst.
RATES: Final = {"live": (100, 200), "sandbox": (25, 50)}

Handler = Callable[[World, Request], Reply]
READ: Final = "webhooks:read"
ROUTES: Final[Mapping[str, Mapping[str, tuple[str, Handler]]]] = {
    "/events": {"GET": ("events:read", list_events)},
    "/events/{id}": {"GET": ("events:read", retrieve_event)},
    "/card/verify": {"GET": ("cards:verify", verify_card)},
    "/card/keys": {"GET": ("cards:verify", card_keys)},
    "/scan": {"POST": ("tickets:activate", scan)},
    "/webhooks": {"GET": (READ, list_endpoints), "POST": (ADMIN, create_endpoint)},
    "/webhooks/{id}": {
        "GET": (READ, retrieve_endpoint),
        "PATCH": (ADMIN, update_endpoint),
        "DELETE": (ADMIN, delete_endpoint),
    },
    "/webhooks/{id}/test": {"POST": (ADMIN, ping_endpoint)},
    "/webhooks/{id}/rotate-secret": {"POST": (ADMIN, rotate_secret)},
    "/webhooks/{id}/deliveries": {"GET": (READ, list_deliveries)},
    "/webhooks/{id}/deliveries/{delivery_id}": {"GET": (READ, retrieve_delivery)},
    "/webhooks/{id}/replay": {"GET": (READ, list_replays), "POST": (ADMIN, replay)},
    "/webhook-events": {"GET": (READ, list_messages)},
}
PATTERNS: Final = {path: re.compile(re.sub(r"\{\w+\}", "([^/]+)", path)) for path in ROUTES}


@dataclass(frozen=True)
class Caller:
    mode: str
    scopes: frozenset[str]


def receive(
    world: World, callers: Mapping[str, Caller], request: httpx2.Request, fault: Refused | None = None
) -> httpx2.Response:
    """The response to a request. With a `fault`, that refusal."""
    id = world.new_id()
    caller = _caller(callers, request)
    path = request.url.path.removeprefix(BASE_PATH)
    try:
        if fault is not None:
            raise fault
        if caller is None:
            raise Refused("invalid_key")
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
    found = BEARER.fullmatch(request.headers.get("authorization", ""))
    return callers.get(found[1]) if found else None


def _call_handler(world: World, caller: Caller, request: httpx2.Request, path: str, id: UUID) -> Reply:
    for template, pattern in PATTERNS.items():
        if found := pattern.fullmatch(path):
            methods = ROUTES[template]
            if request.method not in methods:
                raise Refused("method_not_allowed", headers={"allow": ", ".join(sorted(methods))})
            scope, handler = methods[request.method]
            if not caller.scopes & {scope, ADMIN}:
                raise Refused("insufficient_scope", f"This API key lacks the scope {scope}.")
            return handler(world, _request(caller, request, found.groups(), id))
    raise Refused("not_found")


def _request(caller: Caller, request: httpx2.Request, ids: tuple[str, ...], id: UUID) -> Request:
    return Request(
        id=id,
        mode=caller.mode,
        url=str(request.url.copy_with(query=None)),
        ids=ids,
        query=dict(request.url.params.multi_items()),
        idempotency_key=request.headers.get("idempotency-key"),
        body=request.content,
    )


def _rate_headers(mode: str, name: str) -> dict[str, str]:
    """The values of a full bucket after one call: a fake counts no calls."""
    per_second, burst = RATES[mode]
    return {
        "ratelimit": f'"{name}";r={burst - 1};t=1',
        "ratelimit-policy": f'"{name}";q={burst};w={burst // per_second}',
        "cache-control": "no-store",
    }
