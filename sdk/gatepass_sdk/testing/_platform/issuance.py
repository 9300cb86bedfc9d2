"""Issuing a ticket: who gets it, on which card, and why not."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from gatepass_sdk._card import as_stored
from gatepass_sdk.testing._cards import find_card
from gatepass_sdk.testing._events import is_fictional, require_room
from gatepass_sdk.testing._http import Refused
from gatepass_sdk.testing._platform.people import card_of_person, new_card
from gatepass_sdk.testing._platform.records import CardRecord, HolderRecord, TicketRecord
from gatepass_sdk.testing._state import Side, World


@dataclass(frozen=True)
class TicketRequest:
    """A ticket that somebody asks for, on exactly one of a card, a number and a holder."""

    event_id: str
    category_id: str
    card_id: UUID | None = None
    card_number: str | None = None
    holder: HolderRecord | None = None
    external_id: str | None = None

    @property
    def fingerprint(self) -> tuple[object, ...]:
        number = self.card_number and as_stored(self.card_number)
        return (self.event_id, self.category_id, self.card_id, number, self.holder and self.holder.fingerprint)


def issue(world: World, side: Side, request: TicketRequest) -> tuple[TicketRecord, bool]:
    """The ticket, and whether it is new."""
    known = (ticket for ticket in side.tickets if ticket.event_id == request.event_id and ticket.external_id)
    before = next((ticket for ticket in known if ticket.external_id == request.external_id), None)
    if before is not None:
        if before.fingerprint != request.fingerprint:
            raise Refused("external_id_taken", param="external_id")
        return before, False
    category = _category(side, request)
    chosen = choose_card(side, request)
    if category["quantity_sold"] >= category["quantity_total"]:
        raise Refused("sold_out", param="category_id")
    require_room(side, "tickets", len(side.tickets))
    ticket = TicketRecord(
        world.new_id(), request.event_id, category, made_card(world, side, chosen, request), world.now(),
        external_id=request.external_id, fingerprint=request.fingerprint,
    )  # fmt: skip
    category["quantity_sold"] += 1
    side.tickets.append(ticket)
    return ticket, True


def choose_card(side: Side, request: TicketRequest) -> CardRecord | str:
    """The card that gets the ticket, or whose new card: that of the `person` or of a `companion`."""
    if request.holder is None:
        param = "card_id" if request.card_id is not None else "card_number"
        by_id = (card for card in side.cards if card.id == request.card_id)
        card = next(by_id, None) if request.card_id else find_card(side, as_stored(request.card_number or ""))
        if card is None:
            raise Refused("card_not_found", param=param)
        if card.status != "active":
            raise Refused(f"card_{card.status}", param=param)
        if holds_ticket(side, card, request.event_id):
            raise Refused("card_has_ticket", param=param)
        return card
    card = card_of_person(side, request.holder.address)
    if card is None or card.status == "revoked":
        return "person"
    if card.status == "suspended":
        raise Refused("card_suspended", param="holder")
    return "companion" if holds_ticket(side, card, request.event_id) else card


def made_card(world: World, side: Side, chosen: CardRecord | str, request: TicketRequest) -> CardRecord:
    if isinstance(chosen, CardRecord):
        return chosen
    return new_card(world, side, request.holder, companion=chosen == "companion")


def holds_ticket(side: Side, card: CardRecord, event_id: str) -> bool:
    held = (ticket for ticket in side.tickets if ticket.card is card and ticket.event_id == event_id)
    return any(ticket.state in ("issued", "activated") for ticket in held)


def require_on_sale(event: dict[str, Any], sentence: str, param: str | None = None) -> None:
    if event["status"] not in ("draft", "published"):
        raise Refused("not_allowed", sentence.format(event["status"]), param=param)


def _category(side: Side, request: TicketRequest) -> dict[str, Any]:
    event = next((event for event in side.events if event["id"] == request.event_id), None)
    if event is None or is_fictional(side, request.event_id):
        raise Refused("event_not_found", param="event_id")
    require_on_sale(event, "An event that is {} takes no more tickets.", "event_id")
    categories: list[dict[str, Any]] = event["ticket_categories"]
    for category in categories:
        if category["id"] == request.category_id:
            return category
    raise Refused("category_not_found", param="category_id")
