"""Requests as security events: refused by role or address, without a session, from another site; opened invitations."""

import re
from contextlib import suppress
from typing import Final

from starlette.requests import Request

from gatepass.base.errors import NotNow
from gatepass.domain import security_log, staff
from gatepass.domain.security_log import NOBODY, Action
from gatepass.domain.staff import Session
from gatepass.domain.staff.invitations import ReceivedInvitation
from gatepass.studio.services.studio import Studio
from gatepass.studio.services.templates import ROOT, SECTIONS
from gatepass.studio.web import cookies

CROSS_SITE: Final = "cross_site"
SECTION: Final = re.compile(
    r"/studio/(?:(?:o/[^/]+/)?(?:live|sandbox)/)?(account|address|audit|cards|confirm|devices|events|home|keys|link|organizations"
    r"|second-factor|settings|sign-in|sign-out|team|tickets|webhooks|welcome)(?:/|$)"
)


async def note_refusal(request: Request, studio: Studio, session: Session, reason: str) -> None:
    """Somebody who is signed in was refused. One entry for each person, reason and route a minute; the rest counts.

    If the database is away there is only the line: a refusal stays a refusal.
    """
    route = route_of(request)
    if not studio.refusals.allows(reason, session.person_id, route):
        return
    ids = [session.organization_id] if session.organization_id else []
    try:
        async with studio.db.transaction(request.scope["gatepass.address"]) as tx:
            await security_log.record(
                tx, ids, security_log.PERSON, session.person_id, Action.ACCESS_REFUSED, by=session.actor,
                at=studio.clock(), becomes=route, reason=reason, route=route, session_id=str(session.id),
                suppressed=studio.refusals.take_suppressed(reason),
            )  # fmt: skip
    except NotNow:
        note_stranger(request, Action.ACCESS_REFUSED, reason)


async def note_cross_site(request: Request, studio: Studio) -> None:
    """The CSRF check refused a request. If it brought a session, the organization of that session is told."""
    token = cookies.session_of(request)
    session = None
    if token:
        with suppress(NotNow):
            async with studio.db.autocommit() as tx:
                session = await staff.find(tx, token, at=studio.clock())
    if session is None:
        note_stranger(request, Action.ACCESS_REFUSED, CROSS_SITE)
    else:
        await note_refusal(request, studio, session, CROSS_SITE)


def note_stranger(request: Request, action: Action, reason: str) -> None:
    """Somebody without a session was refused."""
    security_log.line(action, address=request.scope["gatepass.address"], reason=reason, route=route_of(request))


def note_not_found(request: Request, session: Session | None) -> None:
    """Nothing is there; a page cannot tell another organization's object from one that never was."""
    security_log.line(
        Action.PAGE_NOT_FOUND,
        address=request.scope["gatepass.address"],
        route=route_of(request),
        actor=session.actor if session else None,
        session_id=str(session.id) if session else None,
    )


async def note_opened(request: Request, studio: Studio, offer: ReceivedInvitation, session: Session | None) -> None:
    """Somebody opened the link of an invitation. One entry a minute: a page that is reloaded must not fill the log."""
    if studio.refusals.allows("invitation_opened", offer.id):
        by = session.actor if session else NOBODY
        async with studio.db.transaction(request.scope["gatepass.address"]) as tx:
            await security_log.record(
                tx, [offer.organization_id], "invitation", offer.id, "opened", by=by, at=studio.clock()
            )


def route_of(request: Request) -> str:
    """Method and template, `GET /keys/{key_id}`. A path could hold the secret of a link, or a text to forge lines with.

    A request that was refused before it was routed has the name of its section.
    """
    if (route := request.scope.get("route")) is not None:
        return f"{request.method} {route.path.removeprefix(SECTIONS).removeprefix(ROOT)}"
    found = SECTION.match(request.scope["path"])
    return f"{request.method} {'/' + found[1] if found else 'unknown'}"
