"""Welcome: somebody follows an invitation's link, says their name, and makes a passkey or a password.

Who has an account already signs in first; the page is the same for everybody who is not signed in.
"""

from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import JSONResponse, RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.domain import staff
from gatepass.domain.staff import EmailTaken, Session, invitations, passkey, password
from gatepass.domain.staff.invitations import Offer
from gatepass.domain.staff.passkey import PasskeyNotKept
from gatepass.domain.staff.password import WeakPassword
from gatepass.studio import cookies
from gatepass.studio.form import Form, Line
from gatepass.studio.lobby import HOME, AtTheDoor, Lobby, go_on

router = APIRouter()

NAME_NEEDED: Final = "Say your name first."
NOT_THIS_WAY: Final = "This invitation cannot make a new account. If you have one already, sign in first."


class Named(BaseModel):
    name: Line


class WithPassword(Named):
    password: str


@router.get("/welcome/{token}")
async def welcome(token: str, door: AtTheDoor) -> Response:
    async with door.studio.db.reading() as tx:
        offer = await invitations.find_offer(tx, token, at=door.at)
    return _show(door, token, offer, Form.of(), await door.session())


@router.post("/welcome/{token}/join")
async def join(token: str, door: AtTheDoor) -> Response:
    """Somebody who is signed in takes the invitation, and is at work there."""
    session = await door.session()
    if session is None:
        return RedirectResponse(door.request.url.path.removesuffix("/join"), 303)
    async with door.transaction() as tx:
        offer = await invitations.find_offer(tx, token, at=door.at)
        await invitations.accept(tx, offer, session.person_id, session.email, at=door.at)
        await staff.go_to(tx, session.id, offer.organization_id, person_id=session.person_id)
    response = RedirectResponse(HOME, 303)
    cookies.say(response, _greeting(offer))
    return response


@router.post("/welcome/{token}")
async def with_password(token: str, door: AtTheDoor) -> Response:
    form = await door.form()
    async with door.studio.db.reading() as tx:
        offer = await invitations.find_offer(tx, token, at=door.at)
    typed = form.read(WithPassword)
    if typed is not None:
        try:
            password.check(typed.password, about=[typed.name, offer.email])
        except WeakPassword as weak:
            form.errors["password"] = str(weak)
        else:
            hash = await door.studio.passwords.hash(typed.password)
            return await _sign_up(door, token, form, typed.name, hash=hash)
    return _show(door, token, offer, form, None, 422)


@router.post("/welcome/{token}/passkey/options")
async def passkey_options(token: str, door: AtTheDoor) -> Response:
    form = await door.form()
    named = form.read(Named)
    if named is None:
        return JSONResponse({"error": form.error("name") and NAME_NEEDED}, 422)
    async with door.transaction() as tx:
        offer = await invitations.find_offer(tx, token, at=door.at)
        options = await passkey.ask_to_create(tx, door.studio.party, offer.id, offer.email, named.name, at=door.at)
    return Response(options, media_type="application/json")


@router.post("/welcome/{token}/passkey")
async def with_passkey(token: str, door: AtTheDoor) -> Response:
    form = await door.form()
    named = form.read(Named)
    if named is None:
        async with door.studio.db.reading() as tx:
            offer = await invitations.find_offer(tx, token, at=door.at)
        return _show(door, token, offer, form, None, 422)
    return await _sign_up(door, token, form, named.name, answer=form.value("answer"))


async def _sign_up(
    door: Lobby, token: str, form: Form, name: str, *, hash: str | None = None, answer: str | None = None
) -> Response:
    """The person, what they sign in with, their place and their session: all of it, or nothing."""
    async with door.studio.db.reading() as tx:
        offer = await invitations.find_offer(tx, token, at=door.at)
    try:
        async with door.transaction() as tx:
            # The person gets the id of the invitation: a passkey names its owner, and was made before they were one.
            person = await staff.enrol(tx, offer.email, name, at=door.at, id=offer.id)
            await invitations.accept(tx, offer, person.id, person.email, at=door.at)
            await _equip(tx, door, offer, hash, answer)
            session = await door.open_session(tx, person.id)
    except EmailTaken:
        form.errors[""] = NOT_THIS_WAY
    except PasskeyNotKept as not_made:
        form.errors[""] = str(not_made)
    else:
        return go_on(HOME, session, _greeting(offer))
    return _show(door, token, offer, form, None, 422)


async def _equip(tx: Tx, door: Lobby, offer: Offer, hash: str | None, answer: str | None) -> None:
    if hash is not None:
        await password.keep(tx, offer.id, hash, at=door.at)
    elif not await passkey.add(
        tx, door.studio.party, offer.id, answer or "", "First passkey", by=f"person {offer.id}", at=door.at
    ):
        raise PasskeyNotKept


def _show(door: Lobby, token: str, offer: Offer, form: Form, session: Session | None, status: int = 200) -> Response:
    mine = session is not None and session.email.lower() == offer.email.lower()
    facts = {"offer": offer, "form": form, "session": session, "mine": mine, "url": f"/studio/welcome/{token}"}
    return door.page("welcome/welcome.html", status=status, **facts)


def _greeting(offer: Offer) -> str:
    return f"Welcome to {offer.organization_name}. You are here as {offer.role.spoken}."
