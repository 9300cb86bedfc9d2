"""Events: the fictional one of the sandbox, and those that are made."""

from copy import deepcopy
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._body_reader import read_uuid
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._paging import page_of, page_size, page_start
from gatepass_sdk.testing._platform.once import shown, unless_seen
from gatepass_sdk.testing._state import SANDBOX, Position, Side, World

STATUSES: Final = ("draft", "published", "cancelled", "ended")
MOST: Final = {"events": 50, "cards": 10_000, "tickets": 20_000}
SANDBOX_EVENT: Final[dict[str, Any]] = {
    "id": "00000000-0000-0000-0000-00000000e7e7",
    "title": "Sandbox Night",
    "description": "A fictional event for trying the API. Scan TEST_VALID.",
    "venue": "Sandbox Hall",
    "city": "Brussels",
    "country": "BE",
    "starts_at": "2030-06-15T18:00:00Z",
    "ends_at": "2030-06-15T23:00:00Z",
    "cover_url": None,
    "status": "published",
    "ticket_categories": [
        {
            "id": "00000000-0000-0000-0000-000000000ca1",
            "name": "General",
            "price": 25.5,
            "currency": "EUR",
            "quantity_total": 1000,
            "quantity_sold": 400,
            "tier": "standard",
            "updated_at": "2026-01-01T00:00:00Z",
            "valid_from": None,
            "valid_until": None,
            "gates": None,
        },
        {
            "id": "00000000-0000-0000-0000-000000000ca2",
            "name": "VIP",
            "price": 99,
            "currency": "EUR",
            "quantity_total": 100,
            "quantity_sold": 40,
            "tier": "vip",
            "updated_at": "2026-01-01T00:00:00Z",
            "valid_from": None,
            "valid_until": None,
            "gates": None,
        },
    ],
    "time_zone": "Europe/Brussels",
    "codes": "any",
    "updated_at": "2026-01-01T00:00:00Z",
    "doors_open_at": None,
    "offline": "manifest",
}


def list_events(world: World, request: Request) -> Reply:
    """Published events, in the order of their start; with another status for those who may change events."""
    size_and_start, status = (page_size(request), page_start(request)), request.query.get("status")
    if status is not None and status not in STATUSES:
        raise invalid(f"status is one of {', '.join(STATUSES)}.", "status")
    if status not in (None, "published") and not request.scopes & {"events:write", "admin"}:
        raise Refused("insufficient_scope", "This API key lacks the scope events:write.")
    found = [event for event in world.sides[request.mode].events if event["status"] == (status or "published")]
    page = page_of(request, found, _position, dict[str, Any], size_and_start, filters={"status": status})
    return unless_seen(page, request)


def retrieve_event(world: World, request: Request) -> Reply:
    """One event, whatever its status."""
    wanted = read_uuid(request.ids[0])
    if request.device is not None and request.device.event_id != wanted:
        raise Refused("event_not_found")
    return unless_seen(shown(200, find_event(world.sides[request.mode], wanted)), request)


def new_event(id: str, **fields: Any) -> dict[str, Any]:
    """An event like that of the sandbox, with categories of its own."""
    return {**deepcopy(SANDBOX_EVENT), "id": id, **fields}


def find_event(side: Side, id: UUID | None) -> dict[str, Any]:
    for event in side.events:
        if id is not None and event["id"] == str(id):
            return event
    raise Refused("event_not_found")


def is_fictional(side: Side, event_id: str) -> bool:
    return side.mode == SANDBOX and event_id == SANDBOX_EVENT["id"]


def require_room(side: Side, what: str, held: int) -> None:
    """The sandbox holds so many."""
    if side.mode == SANDBOX and held >= MOST[what]:
        sentence = f"The sandbox holds {MOST[what]:,} {what} at most. Its owner can empty it in the studio."
        raise Refused("sandbox_full", sentence)


def _position(event: dict[str, Any]) -> Position:
    return datetime.fromisoformat(event["starts_at"]), UUID(event["id"])
