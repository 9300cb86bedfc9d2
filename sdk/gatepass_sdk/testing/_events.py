"""Events: the sandbox's own, and those that a test adds to the live side."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from gatepass_sdk.testing._asked import Asked, Refused, Reply
from gatepass_sdk.testing._bodies import read_uuid
from gatepass_sdk.testing._pages import Place, page_of, page_size, page_start

if TYPE_CHECKING:
    from gatepass_sdk.testing._world import Side, World

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
        },
        {
            "id": "00000000-0000-0000-0000-000000000ca2",
            "name": "VIP",
            "price": 99,
            "currency": "EUR",
            "quantity_total": 100,
            "quantity_sold": 40,
        },
    ],
}


def list_events(world: "World", asked: Asked) -> Reply:
    """Published events, by their start."""
    published = [event for event in world.sides[asked.mode].events if event["status"] == "published"]
    return page_of(asked, published, _place, dict[str, Any], (page_size(asked), page_start(asked)))


def retrieve_event(world: "World", asked: Asked) -> Reply:
    """One event, whatever its status."""
    wanted = read_uuid(asked.ids[0])
    return Reply(200, {"data": find_event(world.sides[asked.mode], wanted)})


def find_event(side: "Side", id: UUID | None) -> dict[str, Any]:
    for event in side.events:
        if id is not None and event["id"] == str(id):
            return event
    raise Refused("event_not_found")


def _place(event: dict[str, Any]) -> Place:
    return datetime.fromisoformat(event["starts_at"]), UUID(event["id"])
