"""A visit: a request with the token of a link, after the limits, and the card that the link is of.

Every route below `/c/<token>` takes a `Visitor`. It refuses links that are unknown or ended.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from gatepass.base.client_ip import Address
from gatepass.base.database import Database
from gatepass.base.errors import Refusal
from gatepass.base.language import Language, language_of
from gatepass.card_page.limits import Limit, refusal
from gatepass.card_page.process import CardPages
from gatepass.domain import cards
from gatepass.domain.card_view import CardRef
from gatepass.domain.cards import FoundLink, LinkState
from gatepass.domain.cards.links import TOKEN, secret_hash
from gatepass.domain.limits import RateLimited


class LinkNotFound(Refusal):
    """There is no card at this address."""

    code = "link_not_found"


class LinkEnded(Refusal):
    """This link does not show a card any more."""

    code = "link_ended"

    def __init__(self, state: LinkState) -> None:
        super().__init__()
        self.state = state


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit with a link that is live."""

    pages: CardPages
    link: FoundLink
    token: str
    request: Request

    @property
    def db(self) -> Database:
        return self.pages.db

    @property
    def card(self) -> CardRef:
        return CardRef(self.link.organization_id, self.link.card_id)

    @property
    def address(self) -> Address | None:
        return self.request.scope["gatepass.address"]

    def language(self, locale: str | None) -> Language:
        return request_language(self.request, locale)


async def visit(token: str, request: Request) -> Visit:
    pages = pages_of(request)
    if not TOKEN.fullmatch(token):
        raise LinkNotFound
    hashed, address = secret_hash(token), request.scope["gatepass.address"]
    limit = pages.limits.visit(address, hashed)
    if limit is not None:
        raise limited(pages, limit)
    with pages.limits.looking_up(hashed):
        async with pages.db.autocommit() as tx:
            found = await cards.find_link(tx, token)
    if found is None:
        pages.limits.unknown(address)
        raise LinkNotFound
    pages.limits.found(hashed)
    if found.state is not LinkState.LIVE:
        raise LinkEnded(found.state)
    return Visit(pages, found, token, request)


Visitor = Annotated[Visit, Depends(visit)]


def limited(pages: CardPages, limit: Limit) -> RateLimited:
    pages.metrics.limited.labels(limit).inc()
    return refusal(limit)


def pages_of(request: Request) -> CardPages:
    return request.app.state.card_pages


def request_language(request: Request, locale: str | None = None) -> Language:
    """What `?language=` asks for, else the holder's, else the browser's."""
    asked = request.query_params.get("language")
    if asked in set(Language):
        return Language(asked)
    return language_of(locale, request.headers.get("accept-language"))
