"""Webhook endpoints: created, changed, deleted, tested, and given new secrets."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass_sdk.messages import KINDS
from gatepass_sdk.testing._body_reader import Fields, Flag, Text, Texts, read_body, read_uuid
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._outbox import emit
from gatepass_sdk.testing._paging import page_of, page_size, page_start
from gatepass_sdk.testing._state import EndpointRecord, World
from gatepass_sdk.testing._url_policy import require_allowed

TYPES: Final = tuple(KINDS)
MOST_ENDPOINTS: Final = 16
ROTATION_STEP: Final = timedelta(hours=24)
NEW: Final[Fields] = {
    "url": Text(2000, 1, needed=True),
    "types": Texts(Text(64), 32, needed=True),
    "description": Text(500, nullable=True),
}
CHANGED: Final[Fields] = {
    "url": Text(2000, 1),
    "types": Texts(Text(64), 32),
    "description": Text(500, nullable=True),
    "status": Text(among=("active", "paused")),
}
ROTATION: Final[Fields] = {"switch": Flag()}


def create_endpoint(world: World, request: Request) -> Reply:
    """Create an endpoint. Only this reply has its secret."""
    body, now = read_body(request.body, NEW), world.now()
    url, types = require_allowed(body["url"], allow_private=world.allow_private), known_types(body["types"])
    if sum(len(side.endpoints) for side in world.sides.values()) >= MOST_ENDPOINTS:
        raise Refused("too_many_endpoints")
    id = world.new_id()
    endpoint = EndpointRecord(id, request.mode, url, types, body.get("description"), _new_secret(id), now)
    world.sides[request.mode].endpoints.append(endpoint)
    return Reply(201, {"data": endpoint.shown(now, secret=endpoint.secret)})


def list_endpoints(world: World, request: Request) -> Reply:
    """Oldest first."""
    size_and_start, now = (page_size(request), page_start(request)), world.now()
    endpoints = world.sides[request.mode].endpoints
    return page_of(request, endpoints, lambda one: one.position, lambda one: one.shown(now), size_and_start)


def retrieve_endpoint(world: World, request: Request) -> Reply:
    return Reply(200, {"data": find_endpoint(world, request).shown(world.now())})


def update_endpoint(world: World, request: Request) -> Reply:
    """Change the given fields only."""
    endpoint_id(request)
    body = read_body(request.body, CHANGED)
    if "url" in body:
        require_allowed(body["url"], allow_private=world.allow_private)
    types = known_types(body["types"]) if "types" in body else None
    endpoint = find_endpoint(world, request)
    endpoint.url, endpoint.types = body.get("url", endpoint.url), types or endpoint.types
    endpoint.description = body.get("description", endpoint.description)
    endpoint.is_paused = body["status"] == "paused" if "status" in body else endpoint.is_paused
    return Reply(200, {"data": endpoint.shown(world.now())})


def delete_endpoint(world: World, request: Request) -> Reply:
    world.sides[request.mode].endpoints.remove(find_endpoint(world, request))
    return Reply(204, None)


def ping_endpoint(world: World, request: Request) -> Reply:
    """Send a `webhook.ping` to this endpoint alone."""
    endpoint, side = find_endpoint(world, request), world.sides[request.mode]
    if endpoint.is_paused:
        raise Refused("not_allowed", "The endpoint is paused. Resume it first.")
    emit(world, side, "webhook.ping", {"webhook_id": str(endpoint.id)}, endpoint_id=endpoint.id)
    return Reply(202, {"data": side.deliveries[-1].shown()})


def rotate_secret(world: World, request: Request) -> Reply:
    """Issue a new secret beside the old one, or switch to it."""
    endpoint_id(request)
    switch = bool(request.body) and read_body(request.body, ROTATION).get("switch", False)
    endpoint, now = find_endpoint(world, request), world.now()
    secret = None
    if switch:
        _switch(endpoint, now)
    else:
        secret = _issue(endpoint, world.new_id(), now)
    return Reply(200, {"data": endpoint.shown(now, secret=secret)})


def endpoint_id(request: Request) -> UUID:
    found = read_uuid(request.ids[0])
    if found is None:
        raise Refused("webhook_not_found")
    return found


def find_endpoint(world: World, request: Request) -> EndpointRecord:
    wanted = endpoint_id(request)
    for endpoint in world.sides[request.mode].endpoints:
        if endpoint.id == wanted:
            return endpoint
    raise Refused("webhook_not_found")


def known_types(types: Sequence[str]) -> list[str]:
    """These types, each once, in the order given."""
    if unknown := [type for type in types if type not in TYPES]:
        raise invalid(f"types: there is no type {unknown[0][:40]!r}.", "types")
    return list(dict.fromkeys(types))


def _new_secret(id: UUID) -> str:
    """A secret of the service's form, and the same in every run: nothing here is secret."""
    return "whsec_" + b64encode(hashlib.sha256(id.bytes).digest()).decode()


def _issue(endpoint: EndpointRecord, id: UUID, now: datetime) -> str:
    rotation = endpoint.rotation(now)
    if rotation is not None and endpoint.switches_at is not None and endpoint.switches_at <= now:
        until = rotation["retires_at"]
        raise Refused("not_allowed", f"The secret before this one is in use until {until}. Rotate again after that.")
    if rotation is None:
        endpoint.secret = endpoint.new_secret or endpoint.secret
    endpoint.new_secret = _new_secret(id)
    endpoint.switches_at, endpoint.retires_at = now + ROTATION_STEP, now + 2 * ROTATION_STEP
    return endpoint.new_secret


def _switch(endpoint: EndpointRecord, now: datetime) -> None:
    if endpoint.rotation(now) is None:
        raise Refused("not_allowed", "There is no new secret to switch to. Issue one first.")
    if endpoint.switches_at is not None and endpoint.switches_at > now:
        endpoint.switches_at, endpoint.retires_at = now, now + ROTATION_STEP
