"""Authentication: from the session cookie to a Context, and pages for people who are not signed in."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final
from urllib.parse import quote
from uuid import UUID

from fastapi import Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.domain import staff
from gatepass.domain.keys import Mode
from gatepass.domain.security_log import Action, Means
from gatepass.domain.staff import NotPermitted, Permission, Session, access, membership, notices
from gatepass.domain.staff.access import SecondFactorRequired
from gatepass.studio.services.documents import help_url
from gatepass.studio.services.studio import Studio
from gatepass.studio.services.templates import ROOT
from gatepass.studio.web import cookies
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, received
from gatepass.studio.web.security_events import note_refusal, note_stranger
from gatepass.studio.web.tab import PageNotFound, page_of_sender, require_tab

HOME: Final = f"{ROOT}/live/home"
# Pages of the studio, and nothing that a browser could take for another site (open redirect).
OWN_PAGE: Final = re.compile(r"/studio/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]{0,1500}")


class RedirectRequired(Exception):  # noqa: N818  not an error: a page that comes first
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def studio_of(request: Request) -> Studio:
    return request.app.state.studio


CurrentStudio = Annotated[Studio, Depends(studio_of)]


async def session_of(request: Request, studio: CurrentStudio) -> Session:
    """The session of the request. Without one, the browser goes to sign in and comes back."""
    session = await _find_session(request, studio, studio.clock())
    if session is None:
        note_stranger(request, Action.SESSION_REQUIRED, "ended" if cookies.session_of(request) else "none")
        raise RedirectRequired(f"{ROOT}/sign-in?{_back_to(request)}")
    return session


async def _find_session(request: Request, studio: Studio, at: datetime) -> Session | None:
    token = cookies.session_of(request)
    if not token:
        return None
    async with studio.db.autocommit() as tx:
        request.state.session = await staff.find(tx, token, at=at)
    return request.state.session


SignedIn = Annotated[Session, Depends(session_of)]


def may(permission: Permission | None, *, confirmed: bool = False, anywhere: bool = False) -> Any:
    """A dependency: the Context, if the role has the permission. `confirmed` also needs recent re-authentication.

    `anywhere` is for a person's own account, which is reachable where the organization is not.
    """

    async def context(request: Request, studio: CurrentStudio, session: SignedIn) -> Context:
        role = session.held_role
        if role is None or session.organization_id is None:
            raise RedirectRequired(f"{ROOT}/organizations")
        await require_tab(request, studio.db, session)
        found = Context(
            request, studio, session, session.organization_id, role, _mode(request), studio.clock(),
            request.scope["gatepass.address"],
        )  # fmt: skip
        if not anywhere:
            await _require_access(found)
        if permission is not None and not found.may(permission):
            raise NotPermitted(f"Your role, {role.spoken}, may not {permission}. An owner or admin can change it.")
        if confirmed and not session.is_reauthenticated(found.at):
            raise RedirectRequired(f"{ROOT}/confirm?{_back_to(request)}")
        return found

    context.permission = permission  # type: ignore[attr-defined]  for the test that walks every route with every role
    context.confirmed = confirmed  # type: ignore[attr-defined]
    context.anywhere = anywhere  # type: ignore[attr-defined]
    return Depends(context)


async def _require_access(context: Context) -> None:
    """A session without a required second factor goes to set one up, whatever it asked for."""
    try:
        access.require_access(context.session, context.address)
    except SecondFactorRequired as refusal:
        await note_refusal(context.request, context.studio, context.session, refusal.code)
        raise RedirectRequired(f"{ROOT}/second-factor?{_back_to(context.request)}") from None


def _mode(request: Request) -> Mode:
    named = request.path_params.get("mode", Mode.LIVE)
    if named not in (Mode.LIVE, Mode.SANDBOX):
        raise PageNotFound
    return Mode(named)


def _back_to(request: Request) -> str:
    """A POST cannot be repeated after signing in: `next` is then the page with the form."""
    url = request.url if request.method in ("GET", "HEAD") else request.url.replace(path=_page_of(request))
    return f"next={quote(url.path + (f'?{url.query}' if url.query else ''))}"


def _page_of(request: Request) -> str:
    return page_of_sender(request) or f"{ROOT}/{_mode(request)}/home"


@dataclass(frozen=True, slots=True)
class PublicContext:
    """For handlers of pages that need no session: signing in, links, invitations."""

    request: Request
    studio: Studio
    at: datetime

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Tx]:
        async with self.studio.db.transaction(self.request.scope["gatepass.address"]) as tx:
            yield tx

    async def session(self) -> Session | None:
        """The session of somebody who is signed in already."""
        return await _find_session(self.request, self.studio, self.at)

    async def form(self) -> Form:
        return await received(self.request)

    def page(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        flash = cookies.flash_of(self.request)
        common = {
            "request_id": self.request.scope["gatepass.request_id"],
            "help_url": help_url(self.request.url.path),
            "flash": flash,
            "now": self.at,
        }
        response = HTMLResponse(self.studio.templates.render(template, common | facts), status)
        if flash:
            cookies.clear_flash(response)
        return response

    def waiting(self, response: Response, seconds: int | None) -> Response:
        response.headers["Retry-After"] = str(seconds or 1)
        return response

    async def open_session(
        self, tx: Tx, person_id: UUID, means: Means, *, in_organization: UUID | None = None, confirmed: bool = True
    ) -> str:
        """A new session (no session fixation). The session that the browser sent, if any, ends.

        An account that nobody has proven gets a letter, now and then, with which its person can.
        """
        brought = cookies.session_of(self.request)
        if brought and (old := await staff.find(tx, brought, at=self.at)):
            await staff.end(tx, old.id, at=self.at)
        browser = storable(self.request.headers.get("user-agent", ""))
        await notices.tell_if_elsewhere(tx, person_id, browser, at=self.at)
        await self.note(tx, person_id, Action.SIGNED_IN, by=f"person {person_id}", means=means)
        await self.studio.letters.send_proof_if_due(tx, person_id, at=self.at)
        return await staff.begin(
            tx,
            person_id,
            at=self.at,
            address=tx.address,
            browser=browser,
            confirmed=confirmed,
            second_factor=means.is_strong,
            organization_id=in_organization,
        )

    async def note(
        self, tx: Tx, person_id: UUID, action: Action, *, by: str, means: Means | None = None, reason: str | None = None
    ) -> None:
        """Write a security event of this person."""
        await membership.note_everywhere(
            tx, person_id, action, by=by, at=self.at, becomes=means, reason=reason, means=means
        )


def public_context(request: Request, studio: CurrentStudio) -> PublicContext:
    return PublicContext(request, studio, studio.clock())


Public = Annotated[PublicContext, Depends(public_context)]


def own_page(wanted: str) -> str:
    """`wanted` if it is a page of the studio, else the home page."""
    return wanted if OWN_PAGE.fullmatch(wanted) else HOME


def redirect_signed_in(wanted: str, token: str, flash: str | None = None) -> Response:
    """Redirect to a page of the studio and set the session cookie."""
    response = RedirectResponse(own_page(wanted), 303)
    cookies.set_session(response, token)
    if flash:
        cookies.set_flash(response, flash)
    return response


def storable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())
