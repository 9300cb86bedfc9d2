"""Events, made and changed by a program."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from gatepass_sdk.testing._body_reader import Fields, Text, read_body, read_moment, read_uuid
from gatepass_sdk.testing._events import SANDBOX_EVENT, find_event, require_room
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._outbox import emit
from gatepass_sdk.testing._platform.cards import read_reason
from gatepass_sdk.testing._platform.event_details import require_details, text_problem
from gatepass_sdk.testing._platform.once import Done, once, require_version, seen_versions, shown
from gatepass_sdk.testing._state import SANDBOX, Side, World
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

NULLABLE: Final[Fields] = {
    "description": Text(10_000, nullable=True),
    "venue": Text(200, nullable=True),
    "city": Text(200, nullable=True),
    "country": Text(pattern="^[A-Z]{2}$", nullable=True),
    "cover_url": Text(2000, pattern="^https://", nullable=True),
}
RULES: Final[Fields] = {
    "codes": Text(among=("any", "phone")),
    "doors_open_at": Text(64, 1, nullable=True),
    "offline": Text(among=("manifest", "signature", "stop")),
}
NEW: Final[Fields] = {
    "title": Text(200, 1, needed=True),
    "starts_at": Text(64, 1, needed=True),
    "ends_at": Text(64, 1, needed=True),
    "time_zone": Text(64, 1),
    **NULLABLE,
    **RULES,
}
CHANGED: Final[Fields] = {
    "title": Text(200, 1),
    "starts_at": Text(64, 1),
    "ends_at": Text(64, 1),
    "time_zone": Text(64, 1),
    **NULLABLE,
    **RULES,
}
CANCELLATION: Final[Fields] = {"reason": Text(500, 1, needed=True)}
TIMES: Final = ("starts_at", "ends_at", "doors_open_at")
FINAL: Final = ("cancelled", "ended")
TRANSITIONS: Final = {
    "draft": ("published", "cancelled"),
    "published": ("cancelled", "ended"),
    "cancelled": (),
    "ended": (),
}


def create_event(world: World, request: Request) -> Reply:
    """A new event; it begins as a draft."""
    body, side = _read_times(read_body(request.body, NEW)), world.sides[request.mode]

    def create() -> Done:
        event: dict[str, Any] = {"id": "", "title": "", **dict.fromkeys(NULLABLE), "status": "draft"}
        event |= {"ticket_categories": [], "time_zone": "UTC", "codes": "any", **body}
        event = {"doors_open_at": None, "offline": "manifest", **event}
        require_details(event)
        require_room(side, "events", len(side.events) - 1)  # beside the fictional one
        event |= {**_written_times(event), "id": str(world.new_id()), "updated_at": rfc3339(world.now())}
        side.events.append(_ordered(event))
        return 201, lambda: find_event(side, read_uuid(event["id"]))

    return once(side, request, create)


def update_event(world: World, request: Request) -> Reply:
    """Change the given fields."""
    side = _side(world, request)
    seen = seen_versions(request)
    body = read_body(request.body, CHANGED)
    event = find_event(side, read_uuid(request.ids[0]))
    require_version(event, seen)
    times = {name: event[name] and datetime.fromisoformat(event[name]) for name in TIMES}
    new = {**event, **times, **_read_times(body)}
    require_details(new)
    require_open(event)
    new |= _written_times(new)
    if new != event:
        event |= {**new, "updated_at": rfc3339(world.now())}
    return shown(200, event)


def publish_event(world: World, request: Request) -> Reply:
    side = _side(world, request)

    def missing(event: dict[str, Any]) -> None:
        sentences: list[str] = []
        if datetime.fromisoformat(event["ends_at"]) <= world.now():
            sentences.append("The event is over already. Give it a new date.")
        if not any(category["quantity_total"] for category in event["ticket_categories"]):
            sentences.append("Add a ticket category with at least one place.")
        if event["status"] == "draft" and sentences:
            raise Refused("not_allowed", "It cannot be published yet. " + " ".join(sentences))

    return _move(world, side, request, "published", missing)


def cancel_event(world: World, request: Request) -> Reply:
    """Cancel the event; `settle` cancels its tickets, as the worker does."""
    side = _side(world, request)
    reason = read_body(request.body, CANCELLATION)["reason"].strip()
    return _move(world, side, request, "cancelled", lambda _event: None, reason)


def end_event(world: World, request: Request) -> Reply:
    return _move(world, _side(world, request), request, "ended", lambda _event: None)


def reopen_event(world: World, request: Request) -> Reply:
    """Nothing ends by itself here, so that there is nothing to open again."""
    side = _side(world, request)
    read_reason(request)

    def reopen() -> Done:
        event = find_event(side, read_uuid(request.ids[0]))
        status = event["status"]
        which = "somebody has ended" if status == "ended" else f"is {status}"
        raise Refused("not_allowed", f"An event that {which} cannot be reopened.")

    return once(side, request, reopen)


def delete_event(world: World, request: Request) -> Reply:
    """Delete a draft for which nothing was issued."""
    side = _side(world, request)
    seen = seen_versions(request)
    event = find_event(side, read_uuid(request.ids[0]))
    if event["status"] != "draft":
        raise Refused("not_allowed", f"An event that is {event['status']} cannot be deleted.")
    if any(ticket.event_id == event["id"] for ticket in side.tickets):
        raise Refused("not_allowed", "Tickets were issued or imported for this draft. Cancel it instead.")
    require_version(event, seen)
    side.events.remove(event)
    return Reply(204, None)


def require_changeable(request: Request, event_id: str) -> None:
    """Nobody can change the sandbox's fictional event."""
    if request.mode == SANDBOX and event_id == SANDBOX_EVENT["id"]:
        raise Refused("not_allowed", "The sandbox's fictional event always stays the same. Make one of your own.")


def require_open(event: dict[str, Any]) -> None:
    if event["status"] in FINAL:
        raise Refused("not_allowed", f"An event that is {event['status']} cannot be changed.")


def _side(world: World, request: Request) -> Side:
    """The side of a call that names an event."""
    side, wanted = world.sides[request.mode], read_uuid(request.ids[0])
    if wanted is None:
        raise Refused("event_not_found")
    require_changeable(request, str(wanted))
    return side


def _move(
    world: World,
    side: Side,
    request: Request,
    to: str,
    check: Callable[[dict[str, Any]], None],
    reason: str | None = None,
) -> Reply:
    def move() -> Done:
        if reason is not None:
            _require_reason(reason)
        event = find_event(side, read_uuid(request.ids[0]))
        check(event)
        if to not in TRANSITIONS[event["status"]]:
            raise Refused("not_allowed", f"An event that is {event['status']} cannot become {to}.")
        event |= {"status": to, "updated_at": rfc3339(world.now())}
        if to == "ended":
            side.ended[event["id"]] = world.now()
        if reason is not None:
            side.cancelled[event["id"]] = reason
            data = {"event_id": event["id"], "cancelled_at": rfc3339(world.now()), "reason": reason}
            emit(world, side, "event.cancelled", data)
        return 200, lambda: event

    return once(side, request, move)


def _require_reason(reason: str) -> None:
    problem = text_problem(reason, 500) if reason else "Say why: everybody who holds a ticket will ask."
    if problem:
        raise invalid(problem, "reason")


def _read_times(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, **{name: read_moment(body[name], name) for name in TIMES if body.get(name) is not None}}


def _written_times(event: dict[str, Any]) -> dict[str, str | None]:
    return {name: maybe_rfc3339(event[name]) for name in TIMES}


def _ordered(event: dict[str, Any]) -> dict[str, Any]:
    """The fields in the order in which the service shows them."""
    names = (
        "id title description venue city country starts_at ends_at cover_url status ticket_categories time_zone codes"
    )
    return {name: event[name] for name in [*names.split(), "updated_at", "doors_open_at", "offline"]}
