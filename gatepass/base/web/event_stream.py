"""Server-sent events: a connection that is woken when there is news, and notices that its reader has left."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from starlette.types import Receive, Send

HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]
ALIVE: Final = b":\n\n"
# Seconds between two signs of life, so that both sides notice a dead connection.
BEAT: Final = 20.0
# Seconds after which a stream ends and its reader opens another, so that new processes get their share.
LONGEST: Final = 900.0


class EventStream:
    """`woken` is set from outside when there is news. `has_left` says that nobody reads any more."""

    def __init__(self, send: Send, woken: asyncio.Event) -> None:
        self._send = send
        self.woken = woken
        self.has_left = False

    async def send(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def is_woken(self, within: float = BEAT) -> bool:
        """False if there is no news in these seconds: then a sign of life is due."""
        try:
            async with asyncio.timeout(within):
                await self.woken.wait()
        except TimeoutError:
            return False
        return True

    async def notice_leaving(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.has_left = True
        self.woken.set()


@asynccontextmanager
async def streaming(
    receive: Receive, send: Send, woken: asyncio.Event, *, retry_after: int
) -> AsyncGenerator[EventStream]:
    """An open stream. `retry_after` is in milliseconds: a reader that lost it opens another then."""
    stream = EventStream(send, woken)
    await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
    leaving = asyncio.create_task(stream.notice_leaving(receive))
    try:
        await stream.send(b"retry: %d\n\n" % retry_after)
        yield stream
    finally:
        leaving.cancel()
    await send({"type": "http.response.body", "body": b"", "more_body": False})
