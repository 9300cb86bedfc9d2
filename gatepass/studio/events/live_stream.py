"""The stream of a live page: server-sent events until the browser leaves, the session ends, or the process stops."""

import asyncio
import time
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gatepass.base.errors import NotNow, Refusal
from gatepass.base.web.event_stream import EventStream, streaming
from gatepass.domain import staff, twin
from gatepass.domain.staff import SEES, Role, access
from gatepass.domain.visibility import GuestField
from gatepass.studio.services.live_view import LiveView, View
from gatepass.studio.services.live_watcher import BEAT, EventRef
from gatepass.studio.web.context import Context

# In seconds: the longest that a stream outlives its session.
ALLOWED_EVERY: Final = 10.0
# Milliseconds after which a browser reconnects.
RETRY_AFTER: Final = 1000
OVER: Final = b"event: over\ndata: {}\n\n"


def view_of(role: Role) -> View:
    return View.NAMED if SEES[role].sees(GuestField.NUMBER) else View.MASKED


class LiveStream(Response):
    def __init__(self, context: Context, event_ref: EventRef, view: View, last_id: str | None) -> None:
        super().__init__()
        self._studio, self._session, self._role = context.studio, context.session, context.role
        self._event_ref, self._address = event_ref, context.address
        self._view, self._last_id = view, last_id
        self._woken = asyncio.Event()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        async with (
            self._studio.live_hub.listening(self._event_ref, self._session.person_id, self._woken) as view,
            streaming(receive, send, self._woken, retry_after=RETRY_AFTER) as stream,
        ):
            await self._stream(view, stream)

    async def _stream(self, view: LiveView, stream: EventStream) -> None:
        """Send new figures as soon as they are there, and a beat when there are none."""
        known = self._known(view.watcher.name)
        checked = time.monotonic()
        while not stream.has_left and not self._studio.stopping.is_set():
            if time.monotonic() - checked >= ALLOWED_EVERY:
                checked = time.monotonic()
                if await self._is_allowed() is False:
                    await stream.send(OVER)
                    return
            self._woken.clear()
            version = view.watcher.version
            if version not in (0, known):
                message, known = view.message(self._view, known), version
                await stream.send(message)
            elif not await stream.is_woken(min(BEAT, ALLOWED_EVERY)):
                await stream.send(view.beat())

    async def _is_allowed(self) -> bool | None:
        """Whether the session may still see this. None while the database is away, which is no refusal."""
        try:
            async with self._studio.db.autocommit() as tx:
                session = await staff.reload(tx, self._session.id, at=self._studio.clock())
        except NotNow:
            return None
        if session is None or session.organization_id != twin.owner_of(self._event_ref.organization_id):
            return False
        try:
            access.require_access(session, self._address)
        except Refusal:
            return False
        return session.held_role is self._role

    def _known(self, name: str) -> int | None:
        """The version that a reconnecting browser has, if this watcher sent it."""
        sender, _, version = (self._last_id or "").partition("-")
        return int(version) if sender == name and version.isascii() and version.isdigit() else None
