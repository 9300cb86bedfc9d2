"""Ticket categories of an event: added, changed, removed."""

from datetime import datetime
from typing import Any, Final

from gatepass_sdk.testing._body_reader import Fields, Number, Text, Texts, read_body, read_moment, read_uuid
from gatepass_sdk.testing._events import SANDBOX_EVENT, find_event
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._platform.event_details import require_category
from gatepass_sdk.testing._platform.events import require_changeable, require_open
from gatepass_sdk.testing._platform.once import Done, once, require_version, seen_versions, shown
from gatepass_sdk.testing._state import World
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

CURRENCY: Final = "^[A-Z]{3}$"
TIER: Final = "^[a-z][a-z0-9_-]{0,31}$"
MOST: Final = 50
MOST_PLACES: Final = 10_000_000
RULES: Final[Fields] = {
    "valid_from": Text(64, 1, nullable=True),
    "valid_until": Text(64, 1, nullable=True),
    "gates": Texts(Text(64, 1), 50, shortest=0, nullable=True),
}
TIMES: Final = ("valid_from", "valid_until")
NEW: Final[Fields] = {
    "name": Text(100, 1, needed=True),
    "price": Number(10**12, needed=True),
    "currency": Text(pattern=CURRENCY, needed=True),
    "quantity_total": Number(MOST_PLACES, needed=True),
    "tier": Text(pattern=TIER),
    **RULES,
}
CHANGED: Final[Fields] = {
    "name": Text(100, 1),
    "price": Number(10**12),
    "currency": Text(pattern=CURRENCY),
    "quantity_total": Number(MOST_PLACES),
    "tier": Text(pattern=TIER),
    **RULES,
}


def create_category(world: World, request: Request) -> Reply:
    side, event_id = world.sides[request.mode], read_uuid(request.ids[0])
    if event_id is None:
        raise Refused("event_not_found")
    require_changeable(request, str(event_id))
    body = {**dict.fromkeys(RULES), **_read_rules(_whole_places(read_body(request.body, NEW)))}

    def create() -> Done:
        require_category(body)
        event = find_event(side, event_id)
        require_open(event)
        if len(event["ticket_categories"]) >= MOST:
            raise Refused("not_allowed", f"An event has at most {MOST} categories.")
        names = ("name", "price", "currency", "quantity_total")
        category = {"id": str(world.new_id()), **{name: body[name] for name in names}, "quantity_sold": 0}
        category |= {"tier": body.get("tier", "standard"), "updated_at": rfc3339(world.now()), **_written_rules(body)}
        event["ticket_categories"].append(_in_major_units(category))
        return 201, lambda: category

    return once(side, request, create)


def update_category(world: World, request: Request) -> Reply:
    """Change the given fields; never to fewer places than are issued."""
    _require_id(request)
    seen = seen_versions(request)
    body = read_body(request.body, CHANGED)
    event, category = _find(world, request)
    require_version(category, seen)
    was = {**category, **{name: category[name] and datetime.fromisoformat(category[name]) for name in TIMES}}
    new = _in_major_units({**was, **_read_rules(_whole_places(body))})
    require_category(new)
    new |= _written_rules(new)
    require_open(event)
    sold = category["quantity_sold"]
    if new["quantity_total"] < sold:
        raise invalid(f"{sold:,} are issued: there cannot be fewer places.", "quantity_total")
    if sold and new["currency"] != category["currency"]:
        raise invalid(f"Some are issued for {category['currency']}: the currency stays.", "currency")
    if new != category:
        category |= {**new, "updated_at": rfc3339(world.now())}
    return shown(200, category)


def delete_category(world: World, request: Request) -> Reply:
    """Remove a category that has no tickets in use."""
    _require_id(request)
    seen = seen_versions(request)
    event, category = _find(world, request)
    require_version(category, seen)
    require_open(event)
    if sold := category["quantity_sold"]:
        raise Refused("not_allowed", f"{sold:,} tickets of {category['name']} are issued, so it cannot be removed.")
    event["ticket_categories"].remove(category)
    return Reply(204, None)


def _require_id(request: Request) -> None:
    category_id = read_uuid(request.ids[0])
    if category_id is None:
        raise Refused("category_not_found")
    if str(category_id) in {category["id"] for category in SANDBOX_EVENT["ticket_categories"]}:
        require_changeable(request, SANDBOX_EVENT["id"])


def _find(world: World, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    wanted = str(read_uuid(request.ids[0]))
    for event in world.sides[request.mode].events:
        for category in event["ticket_categories"]:
            if category["id"] == wanted:
                return event, category
    raise Refused("category_not_found")


def _read_rules(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, **{name: read_moment(body[name], name) for name in TIMES if body.get(name) is not None}}


def _written_rules(category: dict[str, Any]) -> dict[str, Any]:
    """An empty list of gates is none."""
    return {**{name: maybe_rfc3339(category[name]) for name in TIMES}, "gates": category["gates"] or None}


def _in_major_units(category: dict[str, Any]) -> dict[str, Any]:
    """A whole amount is shown as a whole number."""
    if category["price"] == int(category["price"]):
        category["price"] = int(category["price"])
    return category


def _whole_places(body: dict[str, Any]) -> dict[str, Any]:
    """JSON has one kind of number, so that 100.0 is a whole one."""
    places = body.get("quantity_total", 0)
    if places != int(places):
        raise invalid("quantity_total is a whole number.", "quantity_total")
    return {**body, "quantity_total": int(places)} if "quantity_total" in body else body
