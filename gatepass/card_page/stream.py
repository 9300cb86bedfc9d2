"""The stream of a card page: server-sent events that say when the card changed. The page then asks for its state."""

import asyncio
import json
import time
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gatepass.base.errors import NotNow
from gatepass.card_page.errors import refused
from gatepass.card_page.limits import Limit
from gatepass.card_page.visit import Visit, Visitor, limited
from gatepass.domain import cards
from gatepass.domain.cards import LinkState

# Seconds between two signs of life, so that both sides notice a dead connection.
BEAT: Final = 20.0
# Seconds after which a stream ends and its browser opens another, so that new processes get their share.
LONGEST: Final = 900.0
LONGEST_VERSION: Final = 64
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]
# Milliseconds after which a browser reconnects.
RETRY: Final = b"retry: 3000\n\n"
ALIVE: Final = b":\n\n"

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
        self._disconnected = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing is awaited between the check and the count, so that the bounds hold.
        if not self._pages.hub.has_room(self._visit.card):
            response = await refused(self._visit.request, limited(self._pages, Limit.STREAMS))
            await response(scope, receive, send)
            return
        async with self._pages.hub.listening(self._visit.card, self._woken):
            await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
            leaving = asyncio.create_task(self._notice_disconnect(receive))
            try:
                await self._stream(send)
            finally:
                leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self, send: Send) -> None:
        began = time.monotonic()
        await self._send(send, RETRY)
        while not self._disconnected and not self._pages.stopping.is_set() and time.monotonic() - began < LONGEST:
            self._woken.clear()
            version = self._pages.hub.version(self._visit.card)
            if version is not None and version != self._shown:
                self._shown = version
                await self._send(send, b"event: changed\ndata: %s\n\n" % json.dumps({"version": version}).encode())
                if not await self._is_live():
                    return
            elif not await self._wait():
                await self._send(send, ALIVE)

    async def _wait(self) -> bool:
        """True if the card has changed before the next sign of life is due."""
        try:
            await asyncio.wait_for(self._woken.wait(), BEAT)
        except TimeoutError:
            return False
        return True

    async def _is_live(self) -> bool:
        """Whether the link still shows the card. While the database is away, that is no answer."""
        try:
            async with self._pages.db.autocommit() as tx:
                found = await cards.find_link(tx, self._visit.token)
        except NotNow:
            return True
        return found is not None and found.state is LinkState.LIVE

    async def _notice_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._disconnected = True
        self._woken.set()

    async def _send(self, send: Send, body: bytes) -> None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
