"""The stream of a live door: server-sent events, until the browser goes, the session ends, or the process stops."""

import asyncio
import time
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gatepass.base.refusals import Refusal
from gatepass.domain import staff
from gatepass.domain.staff import MAY, Permission, Role, Session
from gatepass.studio.door_view import DoorView, View
from gatepass.studio.house import Studio
from gatepass.studio.watch import BEAT, Place

# Somebody whose session was ended sees nothing more after this.
ALLOWED_EVERY: Final = 10.0
HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]
# How soon browsers come back after a lost line, in milliseconds.
RETRY: Final = b"retry: 1000\n\n"
OVER: Final = b"event: over\ndata: {}\n\n"


def view_of(role: Role) -> View:
    return View.NAMED if Permission.HOLDERS_READ in MAY[role] else View.MASKED


class DoorStream(Response):
    def __init__(
        self, studio: Studio, place: Place, session: Session, role: Role, view: View, last_id: str | None
    ) -> None:
        super().__init__()
        self._studio, self._place, self._session, self._role = studio, place, session, role
        self._view, self._last_id = view, last_id
        self._woken = asyncio.Event()
        self._gone = False

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        leaving = asyncio.create_task(self._notice_leaving(receive))
        try:
            async with self._studio.tower.listening(self._place, self._session.person_id, self._woken) as view:
                await self._tell(view, send)
        finally:
            leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self, view: DoorView, send: Send) -> None:
        """Whatever is new, as soon as it is; a beat when nothing is."""
        known = self._known(view.watch.name)
        asked = time.monotonic()
        await self._send(send, RETRY)
        while not self._gone and not self._studio.stopping.is_set():
            if time.monotonic() - asked >= ALLOWED_EVERY:
                asked = time.monotonic()
                if not await self._is_allowed():
                    await self._send(send, OVER)
                    return
            self._woken.clear()
            version = view.watch.version
            if version not in (0, known):
                message, known = view.message(self._view, known), version
                await self._send(send, message)
            elif not await self._wait():
                await self._send(send, view.beat())

    async def _wait(self) -> bool:
        """Whether something happened before the next beat."""
        try:
            await asyncio.wait_for(self._woken.wait(), min(BEAT, ALLOWED_EVERY))
        except TimeoutError:
            return False
        return True

    async def _is_allowed(self) -> bool:
        try:
            async with self._studio.db.reading() as tx:
                role = await staff.still_here(
                    tx, self._place.organization_id, self._session.id, at=self._studio.clock()
                )
        except Refusal:
            return False  # nobody can say so now; the browser asks again when it comes back
        return role is self._role

    def _known(self, name: str) -> int | None:
        """The version that a browser has which comes back, if it was this watch that told it."""
        teller, _, version = (self._last_id or "").partition("-")
        return int(version) if teller == name and version.isascii() and version.isdigit() else None

    async def _notice_leaving(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._woken.set()

    async def _send(self, send: Send, body: bytes) -> None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
