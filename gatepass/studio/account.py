"""The account: a person's name, what they sign in with, and where they are signed in.

Whatever changes how one signs in wants a confirmed session. Somebody who came by a one-time link and has nothing to
confirm with may make their first passkey or password without.
"""

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.domain import staff
from gatepass.domain.staff import confirming, noting, one_time_code, passkey, password, recovery
from gatepass.domain.staff.one_time_code import WrongCode
from gatepass.domain.staff.password import WeakPassword
from gatepass.studio import cookies
from gatepass.studio.browsers import browser_name
from gatepass.studio.drawing import ROOT
from gatepass.studio.entrance import GoElsewhere, may
from gatepass.studio.form import Form, Line
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/account")

Signed = Annotated[Visit, may(None)]
Confirmed = Annotated[Visit, may(None, confirmed=True)]
ACCOUNT = f"{ROOT}/account"


class Named(BaseModel):
    name: Line


class NewPassword(BaseModel):
    password: str


async def first_or_confirmed(tx: Tx, visit: Visit) -> None:
    """Go and confirm, unless there is nothing yet to confirm with."""
    if visit.session.is_confirmed(visit.at):
        return
    person_id = visit.session.person_id
    if await password.known_of(tx, person_id) or await passkey.passkeys_of(tx, person_id):
        raise GoElsewhere(f"{ROOT}/confirm?next={quote(ACCOUNT)}")


@router.get("")
async def account(visit: Signed) -> Response:
    return await _show(visit)


@router.post("/name")
async def rename(visit: Signed) -> Response:
    form = await visit.form()
    named = form.read(Named)
    if named is None:
        return await _show(visit, name=form)
    async with visit.transaction() as tx:
        await staff.rename_person(
            tx, visit.session.person_id, named.name, was=visit.session.name, by=visit.by, at=visit.at
        )
    return _back("Your name is changed.")


@router.post("/password")
async def change_password(visit: Signed) -> Response:
    form = await visit.form()
    async with visit.db.reading() as tx:
        await first_or_confirmed(tx, visit)
    typed = form.read(NewPassword)
    if typed is not None:
        try:
            password.check(typed.password, about=[visit.session.name, visit.session.email])
        except WeakPassword as weak:
            form.errors["password"] = str(weak)
    if typed is None or form.errors:
        return await _show(visit, new_password=form)
    hash = await visit.studio.passwords.hash(typed.password)
    async with visit.transaction() as tx:
        person_id = visit.session.person_id
        await password.keep(tx, person_id, hash, at=visit.at)
        await noting.note_everywhere(tx, person_id, "password_set", by=visit.by, at=visit.at)
        ended = await confirming.end_others(tx, person_id, visit.session.id, by=visit.by, at=visit.at)
    return _back("Your password is set." + (" Everywhere else you are signed out." if ended else ""))


@router.post("/codes/begin")
async def begin_codes(visit: Confirmed) -> Response:
    async with visit.transaction() as tx:
        await one_time_code.begin_codes(tx, visit.session.person_id, visit.session.email, visit.vault, at=visit.at)
    return RedirectResponse(f"{ACCOUNT}/codes", 303)


@router.get("/codes")
async def codes(visit: Confirmed) -> Response:
    return await _show_codes(visit, Form.of())


@router.post("/codes")
async def turn_codes_on(visit: Confirmed) -> Response:
    form = await visit.form()
    try:
        async with visit.transaction() as tx:
            made = await one_time_code.turn_codes_on(
                tx, visit.session.person_id, form.value("code")[:100], visit.vault, by=visit.by, at=visit.at
            )
    except WrongCode as wrong:
        form.errors["code"] = str(wrong)
        return await _show_codes(visit, form, 422)
    return visit.page("account/recovery.html", codes=made, title="One-time codes are on")


@router.post("/codes/off")
async def turn_codes_off(visit: Confirmed) -> Response:
    async with visit.transaction() as tx:
        await one_time_code.turn_codes_off(tx, visit.session.person_id, by=visit.by, at=visit.at)
    return _back("One-time codes are off.")


@router.post("/recovery")
async def renew_recovery_codes(visit: Confirmed) -> Response:
    async with visit.transaction() as tx:
        if not await one_time_code.wants_code(tx, visit.session.person_id):
            return _back("Turn one-time codes on first.")
        made = await recovery.make_recovery_codes(tx, visit.session.person_id, by=visit.by, at=visit.at)
    return visit.page("account/recovery.html", codes=made, title="New recovery codes")


@router.post("/sessions/{session_id}/end")
async def end_session(session_id: UUID, visit: Signed) -> Response:
    async with visit.transaction() as tx:
        await confirming.end_one(tx, visit.session.person_id, session_id, by=visit.by, at=visit.at)
    return _back("That session is ended.")


@router.post("/sessions/end-others")
async def end_other_sessions(visit: Signed) -> Response:
    async with visit.transaction() as tx:
        ended = await confirming.end_others(tx, visit.session.person_id, visit.session.id, by=visit.by, at=visit.at)
    return _back("Everywhere else you are signed out." if ended else "You were signed in nowhere else.")


async def _show(visit: Visit, *, name: Form | None = None, new_password: Form | None = None) -> Response:
    person_id = visit.session.person_id
    async with visit.db.reading() as tx:
        facts = {
            "passkeys": await passkey.passkeys_of(tx, person_id),
            "has_password": await password.known_of(tx, person_id) is not None,
            "codes": await one_time_code.wants_code(tx, person_id),
            "recovery_left": await recovery.recovery_codes_left(tx, person_id),
            "sessions": await confirming.open_sessions(tx, person_id, at=visit.at),
        }
    status = 422 if name or new_password else 200
    forms = {"name_form": name or Form.of(name=visit.session.name), "password_form": new_password or Form.of()}
    return visit.page("account/account.html", status=status, browser_name=browser_name, **forms, **facts)


async def _show_codes(visit: Visit, form: Form, status: int = 200) -> Response:
    async with visit.db.reading() as tx:
        begun = await one_time_code.pending_enrolment(tx, visit.session.person_id, visit.session.email, visit.vault)
    if begun is None:
        return RedirectResponse(ACCOUNT, 303)
    return visit.page("account/codes.html", form=form, begun=begun, status=status)


def _back(said: str) -> Response:
    response = RedirectResponse(ACCOUNT, 303)
    cookies.say(response, said)
    return response
