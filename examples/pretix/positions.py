"""What an order of pretix means for Gatepass: each of its positions with a ticket, or without one. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gatepass_sdk import HolderDetails, NewTicket

from .client import Order, OrderPosition

PAID: Final = "p"
PENDING: Final = "n"
LONGEST_NAME: Final = 200
PREFIX: Final = "pretix:"


@dataclass(frozen=True)
class Position:
    """A position as Gatepass should have it. Without a category it gets no ticket, or loses the one that it has."""

    id: int
    category_id: str | None
    name: str | None
    email: str | None
    locale: str | None

    @property
    def holder(self) -> HolderDetails:
        return {"name": self.name, "email": self.email, "locale": self.locale}

    def external_id(self, number: int = 1) -> str:
        """The id of its first ticket, or of a later one, if it changed its category or was bought back."""
        return f"{PREFIX}{self.id}" + ("" if number == 1 else f":{number}")

    def ticket(self, event_id: str, number: int = 1) -> NewTicket:
        return {
            "event_id": event_id,
            "category_id": self.category_id or "",
            "holder": self.holder,
            "external_id": self.external_id(number),
        }


def positions_of(order: Order, categories: Mapping[str, str]) -> tuple[Position, ...]:
    """`categories` has the Gatepass category of each item, "7", or of a variation of it, "7/2"."""
    is_valid = order["status"] == PAID or (order["status"] == PENDING and order["valid_if_pending"])
    by_id = {position["id"]: position for position in order["positions"]}
    return tuple(_position(order, position, by_id, categories if is_valid else {}) for position in order["positions"])


def _position(
    order: Order, given: OrderPosition, by_id: Mapping[int, OrderPosition], categories: Mapping[str, str]
) -> Position:
    # An add-on belongs to the person of the position that it was added to.
    people = [given, by_id.get(given["addon_to"] or 0, given)]
    name = next((one["attendee_name"] for one in people if one["attendee_name"]), "").strip()[:LONGEST_NAME]
    email = next((one["attendee_email"] for one in people if one["attendee_email"]), order["email"]) or None
    category = categories.get(f"{given['item']}/{given['variation']}", categories.get(str(given["item"])))
    return Position(
        id=given["id"],
        category_id=None if given["canceled"] or given["blocked"] else category,
        name=name or (None if email else f"{order['code']}-{given['positionid']}"),
        email=email,
        locale=order["locale"],
    )


def position_id(external_id: str | None) -> int | None:
    """The position of a ticket; None if the ticket was not sold by pretix."""
    if external_id is None or not external_id.startswith(PREFIX):
        return None
    return int(external_id.removeprefix(PREFIX).partition(":")[0])
