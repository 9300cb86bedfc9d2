"""The lobby: pages for people of whom we do not know yet who they are, and the way from here to a session."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.domain import staff
from gatepass.domain.staff import Session
from gatepass.studio import cookies
from gatepass.studio.drawing import ROOT
from gatepass.studio.entrance import House
from gatepass.studio.form import Form, received
from gatepass.studio.house import Studio

HOME: Final = f"{ROOT}/live/home"
# Our own pages, and nothing that a browser could take for another site.
OWN_PAGE: Final = re.compile(r"/studio/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]{0,1500}")


@dataclass(frozen=True, slots=True)
class Lobby:
    request: Request
    studio: Studio
    at: datetime

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Tx]:
        async with self.studio.db.transaction(self.request.scope["gatepass.address"]) as tx:
            yield tx

    async def session(self) -> Session | None:
        """Whoever is signed in already."""
        token = cookies.session_of(self.request)
        if not token:
            return None
        async with self.studio.db.reading() as tx:
            return await staff.find(tx, token, at=self.at)

    async def form(self) -> Form:
        return await received(self.request)

    def page(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        said = cookies.said(self.request)
        common = {"request_id": self.request.scope["gatepass.request_id"], "said": said, "now": self.at}
        response = HTMLResponse(self.studio.drawing.draw(template, common | facts), status)
        if said:
            cookies.forget_said(response)
        return response

    def waiting(self, response: Response, seconds: int | None) -> Response:
        response.headers["Retry-After"] = str(seconds or 1)
        return response

    async def open_session(self, tx: Tx, person_id: UUID) -> str:
        """A new session, never one that the browser brought; whichever it brought ends."""
        brought = cookies.session_of(self.request)
        if brought and (old := await staff.find(tx, brought, at=self.at)):
            await staff.end(tx, old.id, at=self.at)
        browser = self.request.headers.get("user-agent", "")
        return await staff.begin(tx, person_id, at=self.at, address=tx.address, browser=storable(browser))


def at_the_door(request: Request, studio: House) -> Lobby:
    return Lobby(request, studio, studio.clock())


AtTheDoor = Annotated[Lobby, Depends(at_the_door)]


def own_page(wanted: str) -> str:
    """Where to go on to: a page of ours, whatever an address says."""
    return wanted if OWN_PAGE.fullmatch(wanted) else HOME


def go_on(wanted: str, token: str, said: str | None = None) -> Response:
    """Take the cookie of a session to a page of ours."""
    response = RedirectResponse(own_page(wanted), 303)
    cookies.keep_session(response, token)
    if said:
        cookies.say(response, said)
    return response


def storable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())
