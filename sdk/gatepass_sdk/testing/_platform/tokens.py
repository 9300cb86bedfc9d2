"""Tokens for the app of a platform. A replay signs them again."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from gatepass_sdk.testing._body_reader import Fields, Text, Texts, read_body, read_moment, read_uuid
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._platform.cards import card_in_path
from gatepass_sdk.testing._platform.once import Done, once
from gatepass_sdk.testing._platform.records import CardRecord
from gatepass_sdk.testing._state import World
from gatepass_sdk.testing._times import rfc3339

MOST_ITEMS: Final = 1_000
LARGEST_BATCH: Final = 1024 * 1024
USUAL_LIFE: Final = timedelta(hours=24)
LONGEST_LIFE: Final = timedelta(days=400)
ONE: Final[Fields] = {"expires_at": Text(64, nullable=True)}
MANY: Final[Fields] = {"cards": Texts(Text(64), MOST_ITEMS, needed=True), **ONE}


def create_token(world: World, request: Request) -> Reply:
    until = _expiry(world, read_body(request.body, ONE) if request.body else {})
    if read_uuid(request.ids[0]) is None:
        raise Refused("card_not_found")

    def note() -> Done:
        card = card_in_path(world, request)
        _require_active(card)
        return 200, lambda: _signed(world, request.mode, card, until)

    return once(world.sides[request.mode], request, note)


def create_tokens(world: World, request: Request) -> Reply:
    """Tokens for many cards, in their order; one that gets none harms no other."""
    body = read_body(request.body, MANY, LARGEST_BATCH)
    until, side = _expiry(world, body), world.sides[request.mode]

    def result(id: str) -> dict[str, Any]:
        found = next((card for card in side.cards if card.id == read_uuid(id)), None)
        if found is None:
            raise Refused("card_not_found", param="cards")
        return {"status": 200, "data": _signed(world, request.mode, found, until)}

    return once(side, request, lambda: (200, lambda: [item_result(result, id) for id in body["cards"]]))


def item_result(result: Callable[[Any], dict[str, Any]], item: Any) -> dict[str, Any]:
    """The result for one item of a batch, or its refusal."""
    try:
        return result(item)
    except Refused as refused:
        return {"status": refused.status, **refused.body}


def _expiry(world: World, body: dict[str, Any]) -> datetime:
    now, text = world.now(), body.get("expires_at")
    until = now + USUAL_LIFE if text is None else read_moment(text, "expires_at")
    if until <= now:
        raise invalid("expires_at is in the past.", "expires_at")
    if until - now > LONGEST_LIFE:
        raise invalid("expires_at is more than 400 days ahead.", "expires_at")
    return until.replace(microsecond=0)


def _require_active(card: CardRecord) -> None:
    if card.status != "active":
        raise Refused(f"card_{card.status}")


def _signed(world: World, mode: str, card: CardRecord, until: datetime) -> dict[str, str]:
    """A card that is suspended or revoked by now gets no token again."""
    _require_active(card)
    token = world.signer(mode).token(card.number, until)
    return {"card_id": str(card.id), "token": token, "expires_at": rfc3339(until)}
