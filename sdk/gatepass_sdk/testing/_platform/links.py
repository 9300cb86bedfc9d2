"""Links of card pages. There is no page behind them here."""

import secrets
from typing import Final

from gatepass_sdk.testing._body_reader import Fields, Flag, read_body, read_uuid
from gatepass_sdk.testing._http import Refused, Reply, Request
from gatepass_sdk.testing._platform.cards import card_in_path
from gatepass_sdk.testing._platform.once import Done, once
from gatepass_sdk.testing._platform.records import CardRecord
from gatepass_sdk.testing._state import World

PAGES: Final = "https://gatepass.test/c/"
BODY: Final[Fields] = {"replace": Flag()}


def create_link(world: World, request: Request) -> Reply:
    """The link that the card has; a new one if it has none, or another is wanted."""
    replace = read_body(request.body, BODY).get("replace", False) if request.body else False
    if read_uuid(request.ids[0]) is None:
        raise Refused("card_not_found")

    def make() -> Done:
        card = card_in_path(world, request)
        if replace:
            card.link = None
        _link_of(card)
        return 200, lambda: {"url": _link_of(card)}

    return once(world.sides[request.mode], request, make)


def _link_of(card: CardRecord) -> str:
    if card.status == "revoked":
        raise Refused("card_revoked")
    card.link = card.link or f"a.{secrets.token_urlsafe(32)}"
    return PAGES + card.link
