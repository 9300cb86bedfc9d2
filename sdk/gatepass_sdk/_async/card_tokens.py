"""Card tokens: the codes that a participant's app shows. None is ever stored, and a retry signs it again."""

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import format_time, new_key, segment, without_none
from gatepass_sdk._batches import cut
from gatepass_sdk._call import Call, data_as, list_as
from gatepass_sdk.models import CardToken, CardTokenResult

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncCardTokens:
    """The key needs the scope `cards:write`. A token lives 24 hours if nothing is said, and 400 days at most."""

    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    async def create(
        self, card_id: str, *, expires_at: datetime | None = None, idempotency_key: str | None = None
    ) -> CardToken:
        """A token for this card."""
        body = without_none(expires_at=format_time(expires_at))
        path, key = f"/cards/{segment(card_id)}/token", new_key(idempotency_key)
        return await self._exchange.ask(Call("POST", path, data_as(CardToken), body=body, idempotency_key=key))

    async def batch(
        self, cards: Sequence[str], *, expires_at: datetime | None = None, idempotency_key: str | None = None
    ) -> tuple[CardTokenResult, ...]:
        """Tokens for at most 1,000 cards, in their order. A card that gets none harms no other."""
        body = without_none(cards=list(cards), expires_at=format_time(expires_at))
        key = new_key(idempotency_key)
        call = Call("POST", "/card-tokens", list_as(CardTokenResult), body=body, idempotency_key=key)
        return await self._exchange.ask(call)

    async def create_all(
        self, cards: Iterable[str], *, expires_at: datetime | None = None
    ) -> AsyncIterator[tuple[str, CardTokenResult]]:
        """Tokens for any number of cards, in batches: each card with its result."""
        for some in cut(cards):
            for card, result in zip(some, await self.batch(some, expires_at=expires_at), strict=True):
                yield card, result
