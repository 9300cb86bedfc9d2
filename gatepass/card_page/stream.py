"""The stream of a card page: server-sent events that say when the card changed. The page then asks for its state."""

import asyncio
import json
import time
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gatepass.base.errors import NotNow
from gatepass.base.web.event_stream import ALIVE, LONGEST, EventStream, streaming
from gatepass.card_page.errors import refused
from gatepass.card_page.limits import Limit
from gatepass.card_page.visit import Visit, Visitor, limited
from gatepass.domain import cards
from gatepass.domain.cards import LinkState

LONGEST_VERSION: Final = 64
# Milliseconds after which a browser reconnects.
RETRY_AFTER: Final = 3000

router = APIRouter()


@router.api_route("/{token}/stream", methods=["GET"])
async def stream(visit: Visitor, version: str = "") -> Response:
    """`version` is the one that the page shows: if the card has changed since, the stream says so at once."""
    return CardStream(visit, version[:LONGEST_VERSION])


class CardStream(Response):
    def __init__(self, visit: Visit, shown: str) -> None:
        super().__init__()
        self._visit, self._pages = visit, visit.pages
        self._shown = shown
        self._woken = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing is awaited between the check and the count, so that the bounds hold.
        if not self._pages.hub.has_room(self._visit.card):
            response = await refused(self._visit.request, limited(self._pages, Limit.STREAMS))
            await response(scope, receive, send)
            return
        async with (
            self._pages.hub.listening(self._visit.card, self._woken),
            streaming(receive, send, self._woken, retry_after=RETRY_AFTER) as stream,
        ):
            await self._stream(stream)

    async def _stream(self, stream: EventStream) -> None:
        began = time.monotonic()
        while not stream.has_left and not self._pages.stopping.is_set() and time.monotonic() - began < LONGEST:
            self._woken.clear()
            version = self._pages.hub.version(self._visit.card)
            if version is not None and version != self._shown:
                self._shown = version
                await stream.send(b"event: changed\ndata: %s\n\n" % json.dumps({"version": version}).encode())
                if not await self._is_live():
                    return
            elif not await stream.is_woken():
                await stream.send(ALIVE)

    async def _is_live(self) -> bool:
        """Whether the link still shows the card. While the database is away, that is no answer."""
        try:
            async with self._pages.db.autocommit() as tx:
                found = await cards.find_link(tx, self._visit.token)
        except NotNow:
            return True
        return found is not None and found.state is LinkState.LIVE
