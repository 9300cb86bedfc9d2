"""Tickets: issued one by one or in batches, listed, cancelled, transferred."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._body_reader import Fields, Items, Text, read_body, read_moment, read_object, read_uuid
from gatepass_sdk.testing._events import find_event
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._outbox import emit
from gatepass_sdk.testing._paging import EPOCH, page_of, page_size, page_start
from gatepass_sdk.testing._platform.cards import position, read_reason
from gatepass_sdk.testing._platform.issuance import TicketRequest, choose_card, issue, made_card, require_on_sale
from gatepass_sdk.testing._platform.once import Done, once, shown
from gatepass_sdk.testing._platform.people import HOLDER, card_of_person, printable, read_holder
from gatepass_sdk.testing._platform.records import TicketRecord
from gatepass_sdk.testing._platform.tokens import LARGEST_BATCH, MOST_ITEMS, item_result
from gatepass_sdk.testing._state import Side, World
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

STATES: Final = ("issued", "activated", "cancelled")
NEW: Final[Fields] = {
    "event_id": Text(64, needed=True),
    "category_id": Text(64, needed=True),
    "card_id": Text(64, nullable=True),
    "card_number": Text(64, 1, nullable=True),
    "holder": HOLDER,
    "external_id": Text(128, 1, nullable=True),
}
BATCH: Final[Fields] = {"tickets": Items(MOST_ITEMS)}
TRANSFER: Final[Fields] = {"card_id": Text(64, nullable=True), "holder": HOLDER}
NO_TICKET: Final = "There is no such ticket."


def create_ticket(world: World, request: Request) -> Reply:
    """Issue a ticket on a card, or for a person, whose card is found or made."""
    side, wanted = world.sides[request.mode], _wanted(read_body(request.body, NEW))

    def done() -> Done:
        ticket, is_new = issue(world, side, wanted)
        return 201 if is_new else 200, ticket.shown

    return once(side, request, done)


def create_tickets(world: World, request: Request) -> Reply:
    """Issue many; an item that is refused harms no other."""
    items, side = read_body(request.body, BATCH, LARGEST_BATCH)["tickets"], world.sides[request.mode]

    def result(item: Any) -> dict[str, Any]:
        ticket, is_new = issue(world, side, _wanted(read_object(item, NEW)))
        return {"status": 201 if is_new else 200, "data": ticket}

    def done() -> Done:
        results = [item_result(result, item) for item in items]
        return 200, lambda: [_as_now(one) for one in results]

    return once(side, request, done)


def list_tickets(world: World, request: Request) -> Reply:
    """Newest first."""
    size, start, query = page_size(request), page_start(request), request.query
    state, text = query.get("state"), query.get("updated_after")
    if state is not None and state not in STATES:
        raise invalid(f"state is one of {', '.join(STATES)}.", "state")
    event_id, card_id = (query.get(name) and str(_uuid(query[name], name)) for name in ("event_id", "card_id"))
    external_id = printable(query.get("external_id"), "external_id")
    after = None if text is None else _recent(read_moment(text, "updated_after"))
    found = [
        ticket
        for ticket in world.sides[request.mode].tickets
        if ticket.state in (STATES if state is None else (state,))
        and event_id in (None, ticket.event_id)
        and card_id in (None, str(ticket.card.id))
        and external_id in (None, ticket.external_id)
        and (after is None or ticket.updated_at > after)
    ]
    filters = {"event_id": event_id, "card_id": card_id, "state": state, "external_id": external_id}
    filters |= {"updated_after": maybe_rfc3339(after)}
    place = (size, start and (EPOCH, start[1]))
    return page_of(request, found, position, TicketRecord.shown, place, newest_first=True, filters=filters)


def retrieve_ticket(world: World, request: Request) -> Reply:
    return shown(200, _ticket_in_path(world, request).shown())


def cancel_ticket(world: World, request: Request) -> Reply:
    """Cancel a ticket, used or not; its place is free again."""
    reason = read_reason(request)
    _require_id(request)
    side = world.sides[request.mode]

    def done() -> Done:
        ticket = _ticket_in_path(world, request)
        if ticket.state == "cancelled":
            raise Refused("ticket_cancelled")
        cancel(world, side, ticket, reason)
        return 200, ticket.shown

    return once(side, request, done)


def transfer_ticket(world: World, request: Request) -> Reply:
    """Move a ticket that was not used to another card or person."""
    body = read_body(request.body, TRANSFER)
    _require_one(body, "card_id", "holder")
    card_id = None if body.get("card_id") is None else _uuid(body["card_id"], "card_id")
    holder = read_holder(body.get("holder"))
    _require_id(request)
    side = world.sides[request.mode]

    def done() -> Done:
        ticket = _ticket_in_path(world, request)
        if ticket.state == "cancelled":
            raise Refused("ticket_cancelled")
        if ticket.state == "activated":
            raise Refused("already_activated")
        event = find_event(side, UUID(ticket.event_id))
        require_on_sale(event, "A ticket of an event that is {} cannot be transferred.")
        if card_of_person(side, holder.address if holder else None) is ticket.card:
            raise Refused("card_has_ticket", param="holder")
        wanted = TicketRequest(ticket.event_id, ticket.category["id"], card_id=card_id, holder=holder)
        ticket.card = made_card(world, side, choose_card(side, wanted), wanted)
        ticket.changed_at = world.now()
        return 200, ticket.shown

    return once(side, request, done)


def cancel(world: World, side: Side, ticket: TicketRecord, reason: str) -> None:
    now = world.now()
    data = {"ticket_id": str(ticket.id), "event_id": ticket.event_id, "card_number": ticket.card.number}
    data |= {"cancelled_at": rfc3339(now), "reason": reason}
    emit(world, side, "ticket.cancelled", {**data, "was_activated": ticket.state == "activated"})
    ticket.state, ticket.cancelled_at, ticket.cancel_reason = "cancelled", now, reason
    ticket.category["quantity_sold"] -= 1


def cancel_tickets_of_cancelled_events(world: World, side: Side) -> None:
    """The worker's part after an event was cancelled."""
    for ticket in side.tickets:
        if ticket.event_id in side.cancelled and ticket.state in ("issued", "activated"):
            cancel(world, side, ticket, side.cancelled[ticket.event_id])


def _wanted(body: dict[str, Any]) -> TicketRequest:
    _require_one(body, "card_id", "card_number", "holder")
    return TicketRequest(
        str(_uuid(body["event_id"], "event_id")),
        str(_uuid(body["category_id"], "category_id")),
        card_id=None if body.get("card_id") is None else _uuid(body["card_id"], "card_id"),
        card_number=printable(body.get("card_number"), "card_number", 64),
        holder=read_holder(body.get("holder")),
        external_id=printable(body.get("external_id"), "external_id"),
    )


def _require_one(body: dict[str, Any], *names: str) -> None:
    if sum(body.get(name) is not None for name in names) != 1:
        raise invalid(f"Send exactly one of {', '.join(names)}.", names[0])


def _uuid(text: str, param: str) -> UUID:
    found = read_uuid(text)
    if found is None:
        raise invalid(f"{param} is not a UUID.", param)
    return found


def _recent(at: datetime) -> datetime:
    if not 1970 <= at.year < 9999:
        raise invalid("updated_after lies before 1970 or after 9998.", "updated_after")
    return at


def _require_id(request: Request) -> None:
    if read_uuid(request.ids[0]) is None:
        raise Refused("ticket_not_found", NO_TICKET)


def _ticket_in_path(world: World, request: Request) -> TicketRecord:
    _require_id(request)
    wanted = read_uuid(request.ids[0])
    for ticket in world.sides[request.mode].tickets:
        if ticket.id == wanted and ticket.state is not None:
            return ticket
    raise Refused("ticket_not_found", NO_TICKET)


def _as_now(result: dict[str, Any]) -> dict[str, Any]:
    ticket = result.get("data")
    return {**result, "data": ticket.shown()} if isinstance(ticket, TicketRecord) else result
