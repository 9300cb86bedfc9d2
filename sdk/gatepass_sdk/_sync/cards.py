# Generated from _async/cards.py by `make sdk-sync`. Change that file.
"""Cards: registered, changed, replaced; tokens verified online, and the keys to verify them offline."""

from functools import partial
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import UNCHANGED, Unchanged, changes, new_key, segment, without_none
from gatepass_sdk._call import Answer, Call, data_as, versioned_as, whole_as
from gatepass_sdk._decode import read
from gatepass_sdk._inputs import HolderDetails
from gatepass_sdk._sync.pages import Pages
from gatepass_sdk.models import Card, CardLink, CardVerification
from gatepass_sdk.tokens import CardKeys

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange


class Cards:
    """The key needs the scope `cards:verify` to verify, `cards:read` to read, and `cards:write` to change."""

    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def verify(self, token: str) -> CardVerification:
        """Verify a card token. No ticket is activated."""
        return self._exchange.ask(Call("GET", "/card/verify", whole_as(CardVerification), query={"token": token}))

    def keys(self) -> CardKeys:
        """The organization's public keys. With them, tokens can be verified without a network."""
        return self._exchange.ask(Call("GET", "/card/keys", self._card_keys))

    def create(
        self,
        *,
        holder: HolderDetails | None = None,
        number: str | None = None,
        external_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Card:
        """Register a card: a new one, or the one that this person has. A new one gets a number unless you give it."""
        body = without_none(holder=holder, number=number, external_id=external_id)
        return self._post("/cards", body, idempotency_key)

    def list(
        self,
        *,
        number: str | None = None,
        email: str | None = None,
        external_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[Card]:
        """Cards: the one with this number or external id, those of this person, or all, newest first."""
        query = {"number": number, "email": email, "external_id": external_id, "limit": limit, "cursor": cursor}
        return Pages(self._exchange, "/cards", partial(read, Card), query)

    def retrieve(self, card_id: str) -> Card:
        """One card with its holder."""
        return self._exchange.ask(Call("GET", _path(card_id), versioned_as(Card)))

    def update(
        self, card_id: str, *, holder: HolderDetails | Unchanged | None = UNCHANGED, if_match: str | None = None
    ) -> Card:
        """Correct the given fields of the holder; None erases the holder. `if_match` as for an event."""
        path, body = _path(card_id), changes(holder=holder)
        call = Call("PATCH", path, versioned_as(Card), body=body, if_match=if_match, repeatable=if_match is None)
        return self._exchange.ask(call)

    def suspend(self, card_id: str, *, reason: str, idempotency_key: str | None = None) -> Card:
        """Gates refuse the card until it is resumed."""
        return self._post(_path(card_id, "suspend"), {"reason": reason}, idempotency_key)

    def resume(self, card_id: str, *, reason: str, idempotency_key: str | None = None) -> Card:
        """Gates take the card again."""
        return self._post(_path(card_id, "resume"), {"reason": reason}, idempotency_key)

    def revoke(self, card_id: str, *, reason: str, idempotency_key: str | None = None) -> Card:
        """Gates refuse the card, for good."""
        return self._post(_path(card_id, "revoke"), {"reason": reason}, idempotency_key)

    def replace(self, card_id: str, *, reason: str, idempotency_key: str | None = None) -> Card:
        """The new card, which takes over the holder, the external id and unused tickets; the old one is revoked."""
        return self._post(_path(card_id, "replace"), {"reason": reason}, idempotency_key)

    def link(self, card_id: str, *, replace: bool = False, idempotency_key: str | None = None) -> CardLink:
        """The link of the card's page, always the same; with `replace` a new one, and the old one shows nothing."""
        path, key = _path(card_id, "link"), new_key(idempotency_key)
        call = Call("POST", path, data_as(CardLink), body={"replace": replace}, idempotency_key=key)
        return self._exchange.ask(call)

    def _post(self, path: str, body: dict[str, object], key: str | None) -> Card:
        return self._exchange.ask(Call("POST", path, versioned_as(Card), body=body, idempotency_key=new_key(key)))

    def _card_keys(self, answer: Answer) -> CardKeys:
        return CardKeys.of(answer.value, is_sandbox=self._exchange.settings.is_sandbox)


def _path(card_id: str, *more: str) -> str:
    return "/".join(["/cards", segment(card_id), *more])
