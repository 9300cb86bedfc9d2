"""Webhook endpoints: made, changed, deleted, tested, and given new secrets."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from gatepass_sdk.testing._asked import Asked, Refused, Reply
from gatepass_sdk.testing._bodies import Fields, Flag, Text, Texts, read_body
from gatepass_sdk.testing._destinations import require_allowed
from gatepass_sdk.testing._endpoint import Endpoint, endpoint_id, find_endpoint, known_types, new_secret
from gatepass_sdk.testing._messages import tell
from gatepass_sdk.testing._pages import Place, page_of, page_size, page_start

if TYPE_CHECKING:
    from gatepass_sdk.testing._world import World

MOST: Final = 16
STEP: Final = timedelta(hours=24)
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


def create_endpoint(world: "World", asked: Asked) -> Reply:
    """With its secret, this once."""
    body, now = read_body(asked.body, NEW), world.now()
    url, types = require_allowed(body["url"], allow_private=world.allow_private), known_types(body["types"])
    if sum(len(side.endpoints) for side in world.sides.values()) >= MOST:
        raise Refused("too_many_endpoints")
    id = world.new_id()
    endpoint = Endpoint(id, asked.mode, url, types, body.get("description"), new_secret(id), now)
    world.sides[asked.mode].endpoints.append(endpoint)
    return Reply(201, {"data": endpoint.shown(now, secret=endpoint.secret)})


def list_endpoints(world: "World", asked: Asked) -> Reply:
    """Oldest first."""
    size_and_start, now = (page_size(asked), page_start(asked)), world.now()
    return page_of(asked, world.sides[asked.mode].endpoints, _place, lambda one: one.shown(now), size_and_start)


def retrieve_endpoint(world: "World", asked: Asked) -> Reply:
    return Reply(200, {"data": find_endpoint(world, asked).shown(world.now())})


def update_endpoint(world: "World", asked: Asked) -> Reply:
    """Change what is given, and nothing else."""
    endpoint_id(asked)
    body = read_body(asked.body, CHANGED)
    if "url" in body:
        require_allowed(body["url"], allow_private=world.allow_private)
    types = known_types(body["types"]) if "types" in body else None
    endpoint = find_endpoint(world, asked)
    endpoint.url, endpoint.types = body.get("url", endpoint.url), types or endpoint.types
    endpoint.description = body.get("description", endpoint.description)
    endpoint.is_paused = body["status"] == "paused" if "status" in body else endpoint.is_paused
    return Reply(200, {"data": endpoint.shown(world.now())})


def delete_endpoint(world: "World", asked: Asked) -> Reply:
    world.sides[asked.mode].endpoints.remove(find_endpoint(world, asked))
    return Reply(204, None)


def ping_endpoint(world: "World", asked: Asked) -> Reply:
    """A ping for this endpoint alone."""
    endpoint, side = find_endpoint(world, asked), world.sides[asked.mode]
    if endpoint.is_paused:
        raise Refused("not_allowed", "The endpoint is paused. Resume it first.")
    tell(world, side, "webhook.ping", {"webhook_id": str(endpoint.id)}, endpoint_id=endpoint.id)
    return Reply(202, {"data": side.deliveries[-1].shown()})


def rotate_secret(world: "World", asked: Asked) -> Reply:
    """A new secret beside the old one, or its taking over."""
    endpoint_id(asked)
    switch = bool(asked.body) and read_body(asked.body, ROTATION).get("switch", False)
    endpoint, now = find_endpoint(world, asked), world.now()
    secret = None
    if switch:
        _switch(endpoint, now)
    else:
        secret = _issue(endpoint, world.new_id(), now)
    return Reply(200, {"data": endpoint.shown(now, secret=secret)})


def _issue(endpoint: Endpoint, id: UUID, now: datetime) -> str:
    rotation = endpoint.rotation(now)
    if rotation is not None and endpoint.switches_at is not None and endpoint.switches_at <= now:
        until = rotation["retires_at"]
        raise Refused("not_allowed", f"The secret before this one is in use until {until}. Rotate again after that.")
    if rotation is None:
        endpoint.secret = endpoint.new_secret or endpoint.secret
    endpoint.new_secret = new_secret(id)
    endpoint.switches_at, endpoint.retires_at = now + STEP, now + 2 * STEP
    return endpoint.new_secret


def _switch(endpoint: Endpoint, now: datetime) -> None:
    if endpoint.rotation(now) is None:
        raise Refused("not_allowed", "There is no new secret to switch to. Issue one first.")
    if endpoint.switches_at is not None and endpoint.switches_at > now:
        endpoint.switches_at, endpoint.retires_at = now, now + STEP


def _place(endpoint: Endpoint) -> Place:
    return endpoint.place
