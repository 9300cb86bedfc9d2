"""Events of the organization."""

from functools import partial
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import segment
from gatepass_sdk._async.pages import AsyncPages
from gatepass_sdk._call import Call, data_as
from gatepass_sdk._decode import read
from gatepass_sdk.models import Event

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncEvents:
    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[Event]:
        """Published events, in the order of their start. `limit` is the size of a page, at most 100."""
        query = {"limit": limit, "cursor": cursor}
        return AsyncPages(self._exchange, "/events", partial(read, Event), query)

    async def retrieve(self, event_id: str) -> Event:
        """One event, whatever its status."""
        return await self._exchange.ask(Call("GET", f"/events/{segment(event_id)}", data_as(Event)))
