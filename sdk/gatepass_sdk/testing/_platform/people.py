"""One person, one card: an e-mail address finds the card that tickets for this person go to."""

from collections.abc import Mapping
from typing import Any, Final

from gatepass_sdk.testing._body_reader import Nested, Text
from gatepass_sdk.testing._cards import find_card, new_number
from gatepass_sdk.testing._events import require_room
from gatepass_sdk.testing._http import invalid
from gatepass_sdk.testing._platform.addresses import is_email, normalized
from gatepass_sdk.testing._platform.records import CardRecord, HolderRecord
from gatepass_sdk.testing._platform.text import is_line
from gatepass_sdk.testing._state import Side, World

LOCALE: Final = "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$"
HOLDER: Final = Nested(
    {
        "name": Text(200, 1, nullable=True),
        "email": Text(320, 3, nullable=True),
        "locale": Text(35, pattern=LOCALE, nullable=True),
    }
)


def read_holder(given: Mapping[str, Any] | None) -> HolderRecord | None:
    """The holder in a body, with an address that can be one."""
    if given is None:
        return None
    name, email = given.get("name"), given.get("email")
    if name is None and email is None:
        raise invalid("A holder has a name or an e-mail address.", "holder")
    return checked(name and name.strip(), email and email.strip(), given.get("locale"))


def checked(name: str | None, email: str | None, locale: str | None) -> HolderRecord:
    if email is not None and not is_email(email):
        raise invalid("holder.email is not an e-mail address.", "holder")
    shown = name or (email or "")[:200]
    if not is_line(shown):
        raise invalid("holder.name is empty, or cannot be printed.", "holder")
    return HolderRecord(shown, email, locale, normalized(email) if email else None, name)


def printable(text: str | None, param: str, longest: int = 128) -> str | None:
    if text is not None and not (1 <= len(text) <= longest and text.isprintable()):
        raise invalid(f"{param} has 1 to {longest} printable characters.", param)
    return text


def card_of_person(side: Side, address: str | None) -> CardRecord | None:
    """The current card of this address, whatever its status."""
    current = (card for card in side.cards if card.is_current and card.holder and card.holder.address == address)
    return next(current, None) if address else None


def new_card(
    world: World,
    side: Side,
    holder: HolderRecord | None = None,
    *,
    number: str | None = None,
    companion: bool = False,
    status: str = "active",
) -> CardRecord:
    require_room(side, "cards", len(side.cards))
    serial = len(side.cards) + 1
    while number is None or (find_card(side, number) is not None):
        number, serial = new_number(serial), serial + 1
    card = CardRecord(world.new_id(), number, world.now(), status, holder, companion=companion)
    if holder is not None and holder.address and not companion:
        make_current(side, card, holder.address)
    side.cards.append(card)
    return card


def make_current(side: Side, card: CardRecord, address: str) -> None:
    before = card_of_person(side, address)
    if before is not None:
        before.is_current = False
    card.is_current, card.companion = True, False
