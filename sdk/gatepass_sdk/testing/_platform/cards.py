"""Cards: registered, listed, corrected, suspended, resumed, revoked, replaced."""

from collections.abc import Callable
from typing import Any, Final

from gatepass_sdk._card import as_stored
from gatepass_sdk.testing._body_reader import Fields, Text, read_body, read_uuid
from gatepass_sdk.testing._cards import find_card, is_number
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._outbox import emit
from gatepass_sdk.testing._paging import EPOCH, page_of, page_size, page_start
from gatepass_sdk.testing._platform.addresses import is_email, normalized
from gatepass_sdk.testing._platform.once import Done, once, require_version, seen_versions, shown
from gatepass_sdk.testing._platform.people import (
    HOLDER,
    card_of_person,
    checked,
    make_current,
    new_card,
    printable,
    read_holder,
)
from gatepass_sdk.testing._platform.records import CardRecord, HolderRecord
from gatepass_sdk.testing._platform.text import is_line
from gatepass_sdk.testing._state import Position, Side, World
from gatepass_sdk.testing._times import rfc3339

NEW: Final[Fields] = {
    "holder": HOLDER,
    "number": Text(64, 1, nullable=True),
    "external_id": Text(128, 1, nullable=True),
}
CHANGED: Final[Fields] = {"holder": HOLDER}
REASON: Final[Fields] = {"reason": Text(200, 1, needed=True)}
TRANSITIONS: Final = {"active": ("suspended", "revoked"), "suspended": ("active", "revoked"), "revoked": ()}


def create_card(world: World, request: Request) -> Reply:
    """A card: new, or the one that this person has."""
    side, body = world.sides[request.mode], read_body(request.body, NEW)
    external_id, holder = printable(body.get("external_id"), "external_id"), read_holder(body.get("holder"))

    def register() -> Done:
        number = None if body.get("number") is None else as_stored(body["number"])
        if number is not None and not is_number(number):
            raise invalid("number is not a card number; a digit may be mistyped.", "number")
        card, is_new = _registered(world, side, holder, number, external_id)
        return 201 if is_new else 200, card.shown

    return once(side, request, register)


def _registered(
    world: World, side: Side, holder: HolderRecord | None, number: str | None, external_id: str | None
) -> tuple[CardRecord, bool]:
    fingerprint = (number, holder and holder.fingerprint)
    known = next((card for card in side.cards if external_id and card.external_id == external_id), None)
    if known is not None:
        if known.fingerprint != fingerprint:
            raise Refused("external_id_taken", param="external_id")
        return known, False
    card = card_of_person(side, holder.address if holder else None)
    is_new = card is None or card.status == "revoked"
    if card is None or card.status == "revoked":
        if number is not None and find_card(side, number) is not None:
            raise Refused("card_number_taken", param="number")
        card = new_card(world, side, holder, number=number)
    elif card.status == "suspended":
        raise Refused("card_suspended", param="holder")
    elif number not in (None, card.number) or (external_id and card.external_id):
        raise Refused("holder_has_card", param="holder", details={"card_id": str(card.id)})
    if external_id is not None:
        card.external_id, card.fingerprint, card.changed_at = external_id, fingerprint, world.now()
    return card, is_new


def list_cards(world: World, request: Request) -> Reply:
    """One by its number or external id, those of a person oldest first, or all, newest first."""
    size, start = page_size(request), page_start(request)
    number = printable(request.query.get("number"), "number", 64)
    email = request.query.get("email")
    email = email if email and is_email(email) else printable(email, "email", 320)
    external_id = printable(request.query.get("external_id"), "external_id")
    found = [
        card
        for card in world.sides[request.mode].cards
        if (number is None or card.number == _typed(number))
        and external_id in (None, card.external_id)
        and (email is None or (card.holder is not None and card.holder.address == normalized(email)))
    ]
    if start is not None and (number or external_id):
        found = []
    return page_of(
        request,
        found,
        position,
        CardRecord.shown,
        (size, start and (EPOCH, start[1])),
        newest_first=email is None or bool(number or external_id),
        filters={"number": number, "email": email, "external_id": external_id},
    )


def retrieve_card(world: World, request: Request) -> Reply:
    return shown(200, card_in_path(world, request).shown())


def update_card(world: World, request: Request) -> Reply:
    """Correct the given fields of the holder; null erases the holder."""
    body, side, card = read_body(request.body, CHANGED), world.sides[request.mode], card_in_path(world, request)
    change = body.get("holder")
    was = card.holder
    fields: dict[str, Any] = {"name": was and was.name, "email": was and was.email, "locale": was and was.locale}
    holder = None if change is None else checked(**fields | change)
    require_version(card.shown(), seen_versions(request))
    if "holder" not in body:
        return shown(200, card.shown())
    if card.status == "revoked":
        raise Refused("not_allowed", "A card that is revoked is not changed any more.")
    address = holder.address if holder else None
    if holder is None or address != (was.address if was else None):
        other = card_of_person(side, address)
        if other is not None and other is not card and other.status != "revoked":
            raise Refused("holder_has_card", param="holder", details={"card_id": str(other.id)})
        card.is_current = card.companion = False
        card.holder = holder
        if address is not None:
            make_current(side, card, address)
    card.holder, card.changed_at = holder, world.now()
    return shown(200, card.shown())


def suspend_card(world: World, request: Request) -> Reply:
    return _with_reason(world, request, lambda card, reason: _change_status(world, card, "suspended", reason))


def resume_card(world: World, request: Request) -> Reply:
    return _with_reason(world, request, lambda card, reason: _change_status(world, card, "active", reason))


def revoke_card(world: World, request: Request) -> Reply:
    return _with_reason(world, request, lambda card, reason: _change_status(world, card, "revoked", reason))


def replace_card(world: World, request: Request) -> Reply:
    """A new card takes over the holder, the external id and unused tickets; the old one is revoked."""

    def replace(card: CardRecord, reason: str) -> CardRecord:
        if card.status == "revoked":
            raise Refused("not_allowed", "A card that is revoked cannot be replaced any more.")
        side = world.sides[request.mode]
        _change_status(world, card, "revoked", reason)
        new = new_card(world, side)
        new.holder, new.is_current, new.companion = card.holder, card.is_current, card.companion
        new.external_id, new.fingerprint = card.external_id, card.fingerprint
        card.holder, card.is_current, card.companion, card.external_id = None, False, False, None
        for ticket in side.tickets:
            if ticket.card is card and ticket.state == "issued":
                ticket.card, ticket.changed_at = new, world.now()
        return new

    return _with_reason(world, request, replace, status=201)


def read_reason(request: Request) -> str:
    reason = str(read_body(request.body, REASON)["reason"]).strip()
    if not is_line(reason):
        raise invalid("reason is empty, or cannot be printed.", "reason")
    return reason


def card_in_path(world: World, request: Request) -> CardRecord:
    wanted = read_uuid(request.ids[0])
    for card in world.sides[request.mode].cards:
        if card.id == wanted:
            return card
    raise Refused("card_not_found")


def position(record: Any) -> Position:
    """Ids are made in order, and lists are sorted by them alone."""
    return EPOCH, record.id


def _with_reason(
    world: World, request: Request, act: Callable[[CardRecord, str], CardRecord], *, status: int = 200
) -> Reply:
    reason = read_reason(request)
    if read_uuid(request.ids[0]) is None:
        raise Refused("card_not_found")

    def done() -> Done:
        card = act(card_in_path(world, request), reason)
        return status, card.shown

    return once(world.sides[request.mode], request, done)


def _change_status(world: World, card: CardRecord, to: str, reason: str) -> CardRecord:
    was, now = card.status, world.now()
    if to not in TRANSITIONS[was]:
        raise Refused("not_allowed", f"A card that is {was} cannot become {to}.")
    card.status, card.changed_at = to, now
    data = {"card_id": str(card.id), "card_number": card.number, "previous_status": was, "status": to}
    side = next(side for side in world.sides.values() if card in side.cards)
    emit(world, side, "card.status_changed", {**data, "changed_at": rfc3339(now), "reason": reason})
    return card


def _typed(number: str) -> str:
    """The letters before the digits may be left out."""
    bare = "".join(sign for sign in number if sign.isdigit())
    is_bare = len(bare) == 12 and not any(sign.isalpha() for sign in number)
    return as_stored("SVC" + bare if is_bare else number)
