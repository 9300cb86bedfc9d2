"""The stream of a manifest: server-sent events with what changed, until the device leaves or its key ends."""

import asyncio
import time
from base64 import b64encode
from functools import lru_cache
from typing import Final
from uuid import UUID

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gatepass.api.manifests.follower import Answer, Follower, Listener
from gatepass.api.manifests.hub import ManifestHub

# Seconds between two signs of life, so that both sides notice a dead connection.
BEAT: Final = 20.0
# Seconds after which a stream ends and its device opens another, so that new processes get their share.
LONGEST: Final = 900.0
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]
# Milliseconds after which a device reconnects.
RETRY: Final = b"retry: 3000\n\n"
ALIVE: Final = b":\n\n"
# The device has to fetch the whole manifest, and to open a stream with its cursor.
WHOLE: Final = b"event: whole\ndata: {}\n\n"


class ManifestStream(Response):
    """`first` is what changed since the device's cursor; None if only the whole manifest will do."""

    def __init__(self, hub: ManifestHub, follower: Follower, key_id: UUID, first: Answer | None) -> None:
        super().__init__()
        self._hub, self._follower, self._key_id = hub, follower, key_id
        self._first = first

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing is awaited between the check of the route and the count, so that the bounds hold.
        with self._hub.listening(self._follower, self._key_id) as listener:
            await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
            leaving = asyncio.create_task(_notice_disconnect(receive, listener))
            try:
                await self._stream(listener, send)
            finally:
                leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self, listener: Listener, send: Send) -> None:
        began = time.monotonic()
        await _send(send, RETRY)
        if self._first is None:
            await _send(send, WHOLE)
            return
        version, epoch = self._first.version, self._first.epoch
        if self._first.body:
            await _send(send, _message(self._first.body))
        while not listener.ended and not self._hub.stopping.is_set() and time.monotonic() - began < LONGEST:
            listener.woken.clear()
            body = self._follower.since(version) if epoch == self._follower.epoch else None
            if body is None:
                await _send(send, WHOLE)
                return
            version = self._follower.version
            if body:
                await _send(send, _message(body))
            elif not await _is_woken(listener):
                await _send(send, ALIVE)


@lru_cache(maxsize=16)  # all devices of an event get the same one
def _message(body: bytes) -> bytes:
    return b"event: changes\ndata: %s\n\n" % b64encode(body)


async def _is_woken(listener: Listener) -> bool:
    """False if the next sign of life is due first."""
    try:
        async with asyncio.timeout(BEAT):
            await listener.woken.wait()
    except TimeoutError:
        return False
    return True


async def _notice_disconnect(receive: Receive, listener: Listener) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.ended = True
    listener.woken.set()


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
