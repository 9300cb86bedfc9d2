"""The stream of a manifest: server-sent events with what changed, until the device leaves or its key ends."""

import time
from base64 import b64encode
from functools import lru_cache
from typing import Final
from uuid import UUID

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gatepass.api.manifests.follower import Answer, Follower, Listener
from gatepass.api.manifests.hub import ManifestHub
from gatepass.base.web.event_stream import ALIVE, LONGEST, EventStream, streaming

# Milliseconds after which a device reconnects.
RETRY_AFTER: Final = 3000
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
            async with streaming(receive, send, listener.woken, retry_after=RETRY_AFTER) as stream:
                await self._stream(listener, stream)

    async def _stream(self, listener: Listener, stream: EventStream) -> None:
        if self._first is None:
            await stream.send(WHOLE)
            return
        ends = time.monotonic() + LONGEST
        version, epoch = self._first.version, self._first.epoch
        if self._first.body:
            await stream.send(_message(self._first.body))
        while time.monotonic() < ends and not (listener.ended or stream.has_left or self._hub.stopping.is_set()):
            listener.woken.clear()
            body = self._follower.since(version) if epoch == self._follower.epoch else None
            if body is None:
                await stream.send(WHOLE)
                return
            version = self._follower.version
            if body:
                await stream.send(_message(body))
            elif not await stream.is_woken():
                await stream.send(ALIVE)


@lru_cache(maxsize=16)  # all devices of an event get the same one
def _message(body: bytes) -> bytes:
    return b"event: changes\ndata: %s\n\n" % b64encode(body)
