"""The entrance: from a cookie to a visit. Who is not signed in goes to sign in; who may not is told so."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request

from gatepass.base.refusals import Refusal
from gatepass.domain import staff
from gatepass.domain.keys import Mode
from gatepass.domain.staff import NotPermitted, Permission, Session
from gatepass.studio import cookies
from gatepass.studio.drawing import ROOT
from gatepass.studio.house import Studio
from gatepass.studio.visit import Visit


class PageNotFound(Refusal):
    """There is no such page, or not in this organization."""

    code = "not_found"


class GoElsewhere(Exception):  # noqa: N818  not an error: the way to where one must be first
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def studio_of(request: Request) -> Studio:
    return request.app.state.studio


House = Annotated[Studio, Depends(studio_of)]


async def session_of(request: Request, studio: House) -> Session:
    """Whoever is signed in; else they sign in first and come back."""
    token = cookies.session_of(request)
    if token:
        async with studio.db.reading() as tx:
            session = await staff.find(tx, token, at=studio.clock())
        if session is not None:
            return session
    raise GoElsewhere(f"{ROOT}/sign-in?{_back_to(request)}")


SignedIn = Annotated[Session, Depends(session_of)]


def may(permission: Permission | None, *, confirmed: bool = False) -> Any:
    """A dependency: the visit, if the person's role allows this; `confirmed` if they showed just now who they are."""

    async def visit(request: Request, studio: House, session: SignedIn) -> Visit:
        role = session.held_role
        if role is None or session.organization_id is None:
            raise GoElsewhere(f"{ROOT}/organizations")
        found = Visit(
            request, studio, session, session.organization_id, role, _mode(request), studio.clock(),
            request.scope["gatepass.address"],
        )  # fmt: skip
        if permission is not None and not found.may(permission):
            raise NotPermitted(f"Your role, {role.spoken}, may not {permission}. An owner or admin can change it.")
        if confirmed and not session.is_confirmed(found.at):
            raise GoElsewhere(f"{ROOT}/confirm?{_back_to(request)}")
        return found

    visit.permission = permission  # type: ignore[attr-defined]  for the test that walks every route with every role
    visit.confirmed = confirmed  # type: ignore[attr-defined]
    return Depends(visit)


def _mode(request: Request) -> Mode:
    named = request.path_params.get("mode", Mode.LIVE)
    if named not in (Mode.LIVE, Mode.SANDBOX):
        raise PageNotFound
    return Mode(named)


def _back_to(request: Request) -> str:
    """A form cannot be posted again for somebody; they come back to the page that they posted it from."""
    url = request.url if request.method in ("GET", "HEAD") else request.url.replace(path=_page_of(request))
    return f"next={quote(url.path + (f'?{url.query}' if url.query else ''))}"


def _page_of(request: Request) -> str:
    origin, _, rest = request.headers.get("referer", "").partition("://")
    path = "/" + rest.partition("/")[2].partition("?")[0]
    return path if origin and path.startswith(ROOT + "/") else f"{ROOT}/{_mode(request)}/home"
