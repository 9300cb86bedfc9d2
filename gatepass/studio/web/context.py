"""The context of a request: the session, organization, role and mode. Every handler of a section gets one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gatepass.base.client_ip import Address
from gatepass.base.database import Database, Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import Refusal
from gatepass.domain import security_log, twin
from gatepass.domain.keys import Mode
from gatepass.domain.staff import MAY, SEES, NotPermitted, Permission, Role, Session
from gatepass.domain.visibility import GuestField, Sight
from gatepass.studio.services.documents import help_url
from gatepass.studio.services.studio import Studio
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from gatepass.studio.web.forms import LARGEST_FORM, Form, received
from gatepass.studio.web.menu import menu_of
from gatepass.studio.web.security_events import note_refusal

UNPROCESSABLE: Final = 422


@dataclass(frozen=True, slots=True)
class Context:
    request: Request
    studio: Studio
    session: Session
    organization_id: UUID
    role: Role
    mode: Mode
    at: datetime
    address: Address | None

    @property
    def tenant_id(self) -> UUID:
        """Whose events, cards, tickets and scans the pages show: in sandbox mode those of the twin."""
        return self.organization_id if self.mode is Mode.LIVE else twin.twin_id(self.organization_id)

    @property
    def db(self) -> Database:
        """For reading: `async with context.db.autocommit() as tx`."""
        return self.studio.db

    @property
    def vault(self) -> Vault:
        return self.studio.vault

    @property
    def by(self) -> str:
        return self.session.actor

    @property
    def zone(self) -> str:
        """The time zone of a page that is not about one event."""
        return self.session.time_zone

    def may(self, permission: Permission) -> bool:
        return permission in MAY[self.role]

    @property
    def sight(self) -> Sight:
        """The fields of guests that the role sees. `page` and `part` apply it to the rows that they are given."""
        return SEES[self.role]

    def root(self, mode: str | None = None) -> str:
        """The beginning of the addresses of this organization's pages, in the current mode or in this one."""
        return root_of(self.organization_id, mode or self.mode)

    def path(self, rest: str) -> str:
        """The URL of a page in the current mode."""
        return f"{self.root()}/{rest}"

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Tx]:
        """A transaction for a change; its entries in the audit log have the IP address."""
        async with self.db.transaction(self.address) as tx:
            yield tx

    @asynccontextmanager
    async def tenant_transaction(self) -> AsyncGenerator[Tx]:
        """The same for a change of what `tenant_id` has. The twin is made if there is none."""
        async with self.transaction() as tx:
            if self.mode is Mode.SANDBOX:
                await twin.open_for_changes(tx, self.organization_id, at=self.at)
            yield tx

    async def note_export(self, subject: str, subject_id: UUID, what: str) -> None:
        """Before a download of personal data: the audit log has it even if the download breaks off."""
        async with self.transaction() as tx:
            await security_log.record(
                tx, [self.organization_id], subject, subject_id, f"{what}_exported", by=self.by, at=self.at
            )

    async def note_refused(self, refusal: Refusal) -> None:
        """For a handler that shows a refusal of the role beside a field. Other refusals are no security events."""
        if isinstance(refusal, NotPermitted):
            await note_refusal(self.request, self.studio, self.session, refusal.code)

    async def form(self, *, most: int = LARGEST_FORM) -> Form:
        return await received(self.request, most=most)

    def page(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        flash = cookies.flash_of(self.request)
        response = HTMLResponse(
            self.studio.templates.render(template, self._facts(flash) | self.sight.of(facts)), status
        )
        if flash:
            cookies.clear_flash(response)
        return response

    def part(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        """Part of a page, for htmx."""
        return HTMLResponse(self.studio.templates.render(template, self._facts(None) | self.sight.of(facts)), status)

    def go(self, rest: str, flash: str | None = None) -> Response:
        """After a change: redirect to a page of the same mode, with a flash message."""
        response = RedirectResponse(self.path(rest), 303)
        if flash:
            cookies.set_flash(response, flash)
        return response

    def _facts(self, flash: cookies.Flash | None) -> dict[str, Any]:
        path = self.request.url.path
        return {
            "context": self,
            "mode": self.mode,
            "root": self.root(),
            "may": self.may,
            "Permission": Permission,
            "sees": self.sight.sees,
            "GuestField": GuestField,
            "menu": menu_of(
                self.role,
                self.root(),
                path,
                {"webhooks": self.session.failing_endpoints, "keys": self.session.ending_keys},
            ),
            "switch_url": self._switch_url(path),
            "path": path,
            "help_url": help_url(path),
            "flash": flash,
            "now": self.at,
            "zone": self.zone,
            "public_url": self.studio.settings.public_url,
            "request_id": self.request.scope["gatepass.request_id"],
        }

    def _switch_url(self, path: str) -> str:
        """The same section in the other mode. Its list, because an id exists in one mode only."""
        other = Mode.SANDBOX if self.mode is Mode.LIVE else Mode.LIVE
        section = path.removeprefix(self.path("")).partition("/")[0] if path.startswith(self.path("")) else ""
        return f"{self.root(other)}/{section or 'home'}"
