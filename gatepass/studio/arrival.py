"""Arriving: by a link that works once, and choosing where to be at work."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from gatepass.domain import staff
from gatepass.studio.entrance import House, PageNotFound, SignedIn
from gatepass.studio.form import received
from gatepass.studio.lobby import HOME, AtTheDoor, go_on

router = APIRouter()


@router.get("")
@router.get("/")
async def front(_session: SignedIn) -> Response:
    return RedirectResponse(HOME, 303)


@router.get("/link/{token}")
async def link(token: str, lobby: AtTheDoor) -> Response:
    """A page with a button: what looks at links before people do must not use them up."""
    return lobby.page("arrival/link.html", token=token)


@router.post("/link/{token}")
async def use_link(token: str, lobby: AtTheDoor) -> Response:
    async with lobby.transaction() as tx:
        person_id = await staff.use_link(tx, token, at=lobby.at)
        if person_id is None:
            raise PageNotFound("This link was used already, or is too old. Ask for a new one.")
        session = await lobby.open_session(tx, person_id)
    return go_on(HOME, session)


@router.get("/organizations")
async def organizations(lobby: AtTheDoor, session: SignedIn) -> Response:
    async with lobby.studio.db.reading() as tx:
        places = await staff.workplaces(tx, session.person_id)
    return lobby.page("arrival/organizations.html", places=places)


@router.post("/organizations")
async def choose_organization(request: Request, session: SignedIn, studio: House) -> Response:
    wanted = (await received(request)).value("organization_id")
    try:
        organization_id = UUID(wanted)
    except ValueError:
        raise PageNotFound from None
    async with studio.db.transaction() as tx:
        if not await staff.go_to(tx, session.id, organization_id, person_id=session.person_id):
            raise PageNotFound
    return RedirectResponse(HOME, 303)
