"""Cards: tokens verified online, and the keys to verify them offline."""

from typing import TYPE_CHECKING

from gatepass_sdk._call import Answer, Call, whole_as
from gatepass_sdk.models import CardVerification
from gatepass_sdk.tokens import CardKeys

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncCards:
    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    async def verify(self, token: str) -> CardVerification:
        """Verify a card token. No ticket is activated."""
        return await self._exchange.ask(Call("GET", "/card/verify", whole_as(CardVerification), query={"token": token}))

    async def keys(self) -> CardKeys:
        """The organization's public keys. With them, tokens can be verified without a network."""
        return await self._exchange.ask(Call("GET", "/card/keys", self._card_keys))

    def _card_keys(self, answer: Answer) -> CardKeys:
        return CardKeys.of(answer.value, is_sandbox=self._exchange.settings.is_sandbox)
