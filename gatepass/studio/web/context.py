"""A visit: somebody signed in asks for a page or for a change. Every handler of a section is handed one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gatepass.base.address import Address
from gatepass.base.database import Database, Tx
from gatepass.base.vault import Vault
from gatepass.domain.keys import Mode
from gatepass.domain.staff import MAY, Permission, Role, Session
from gatepass.studio import cookies
from gatepass.studio.drawing import ROOT
from gatepass.studio.form import LARGEST_FORM, Form, received
from gatepass.studio.house import Studio
from gatepass.studio.menu import menu_of

UNPROCESSABLE: Final = 422


@dataclass(frozen=True, slots=True)
class Visit:
    request: Request
    studio: Studio
    session: Session
    organization_id: UUID
    role: Role
    mode: Mode
    at: datetime
    address: Address | None

    @property
    def db(self) -> Database:
        """For reading: `async with visit.db.reading() as tx`."""
        return self.studio.db

    @property
    def vault(self) -> Vault:
        return self.studio.vault

    @property
    def by(self) -> str:
        return f"person {self.session.person_id}"

    def may(self, permission: Permission) -> bool:
        return permission in MAY[self.role]

    def path(self, rest: str) -> str:
        """An address of the studio in the mode that one is in."""
        return f"{ROOT}/{self.mode}/{rest}"

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Tx]:
        """A transaction for a change; its notes in the audit know from where it was made."""
        async with self.db.transaction(self.address) as tx:
            yield tx

    async def form(self, *, most: int = LARGEST_FORM) -> Form:
        return await received(self.request, most=most)

    def page(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        said = cookies.said(self.request)
        response = HTMLResponse(self.studio.drawing.draw(template, self._facts(said) | facts), status)
        if said:
            cookies.forget_said(response)
        return response

    def part(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        """A piece of a page, for htmx."""
        return HTMLResponse(self.studio.drawing.draw(template, self._facts(None) | facts), status)

    def go(self, rest: str, said: str | None = None) -> Response:
        """After a change: see the page at this place of the same mode, with a sentence on top."""
        response = RedirectResponse(self.path(rest), 303)
        if said:
            cookies.say(response, said)
        return response

    def _facts(self, said: str | None) -> dict[str, Any]:
        path = self.request.url.path
        return {
            "visit": self,
            "mode": self.mode,
            "root": f"{ROOT}/{self.mode}",
            "may": self.may,
            "Permission": Permission,
            "menu": menu_of(self.role, self.mode, path),
            "switch_url": self._switch_url(path),
            "path": path,
            "said": said,
            "now": self.at,
            "public_url": self.studio.settings.public_url,
            "request_id": self.request.scope["gatepass.request_id"],
        }

    def _switch_url(self, path: str) -> str:
        """The same section in the other mode: the things in it are others, so their pages are not offered."""
        other = Mode.SANDBOX if self.mode is Mode.LIVE else Mode.LIVE
        section = path.removeprefix(f"{ROOT}/{self.mode}/").partition("/")[0] if path.startswith(self.path("")) else ""
        return f"{ROOT}/{other}/{section or 'home'}"
