"""The account: a person's name, passkeys, password and codes, and open sessions.

A change of how a person signs in needs a confirmed session. A person who came by a one-time link and has neither
passkey nor password may add the first one without.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from gatepass.domain import staff
from gatepass.domain.staff import (
    membership,
    notices,
    one_time_code,
    passkey,
    password,
    reauthentication,
    recovery_codes,
    sessions,
)
from gatepass.domain.staff.browser_name import browser_name
from gatepass.domain.staff.one_time_code import WrongCode
from gatepass.domain.staff.password import WeakPassword
from gatepass.studio.account.credentials import changing_account, require_confirmed
from gatepass.studio.services.templates import ROOT
from gatepass.studio.web import cookies
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, Line

router = APIRouter(prefix="/account")

Signed = Annotated[Context, may(None, anywhere=True)]
Confirmed = Annotated[Context, may(None, confirmed=True, anywhere=True)]
ACCOUNT = f"{ROOT}/account"


class ProfileForm(BaseModel):
    name: Line


class PasswordForm(BaseModel):
    password: str


@router.get("")
async def account(context: Signed) -> Response:
    return await _show(context)


@router.post("/name")
async def rename(context: Signed) -> Response:
    form = await context.form()
    named = form.read(ProfileForm)
    if named is None:
        return await _show(context, name=form)
    async with context.transaction() as tx:
        await staff.rename_person(
            tx, context.session.person_id, named.name, was=context.session.name, by=context.by, at=context.at
        )
    return back_to_account("Your name is changed.")


@router.post("/password")
async def change_password(context: Signed) -> Response:
    form = await context.form()
    async with context.db.autocommit() as tx:
        await require_confirmed(tx, context, context.session, ACCOUNT)
    typed = form.read(PasswordForm)
    session = context.session
    if typed is None:
        return await _show(context, new_password=form)
    try:
        about = [session.name, session.email, session.organization_name or ""]
        hash = await context.studio.passwords.hash_new(typed.password, about)
    except WeakPassword as weak:
        form.errors["password"] = str(weak)
        return await _show(context, new_password=form)
    async with changing_account(context, context.session) as tx:
        person_id = context.session.person_id
        await password.keep(tx, person_id, hash, at=context.at)
        await membership.note_everywhere(tx, person_id, "password_set", by=context.by, at=context.at)
        ended = await reauthentication.end_others(tx, person_id, context.session.id, by=context.by, at=context.at)
        left = await passkey.passkeys_of(tx, person_id)
    told = "Your password is set." + (" Everywhere else you are signed out." if ended else "")
    return back_to(f"{ACCOUNT}/passkeys", told) if left else back_to_account(told)


@router.post("/codes/begin")
async def begin_codes(context: Confirmed) -> Response:
    async with changing_account(context, context.session) as tx:
        await one_time_code.begin_codes(
            tx, context.session.person_id, context.session.email, context.vault, at=context.at
        )
    return RedirectResponse(f"{ACCOUNT}/codes", 303)


@router.get("/codes")
async def codes(context: Confirmed) -> Response:
    return await _show_codes(context, Form.of())


@router.post("/codes")
async def turn_codes_on(context: Confirmed) -> Response:
    form = await context.form()
    try:
        async with changing_account(context, context.session) as tx:
            made = await one_time_code.turn_codes_on(
                tx, context.session.person_id, form.value("code")[:100], context.vault, by=context.by, at=context.at
            )
            await sessions.mark_strong(tx, context.session.id)
    except WrongCode as wrong:
        form.errors["code"] = str(wrong)
        return await _show_codes(context, form, 422)
    return context.page("account/recovery.html", codes=made, title="One-time codes are on")


@router.post("/codes/off")
async def turn_codes_off(context: Confirmed) -> Response:
    async with changing_account(context, context.session) as tx:
        await one_time_code.turn_codes_off(tx, context.session.person_id, by=context.by, at=context.at)
    return back_to_account("One-time codes are off.")


@router.post("/recovery")
async def renew_recovery_codes(context: Confirmed) -> Response:
    async with changing_account(context, context.session) as tx:
        if not await one_time_code.wants_code(tx, context.session.person_id):
            return back_to_account("Turn one-time codes on first.")
        made = await recovery_codes.make_recovery_codes(tx, context.session.person_id, by=context.by, at=context.at)
    return context.page("account/recovery.html", codes=made, title="New recovery codes")


@router.post("/sessions/{session_id}/end")
async def end_session(session_id: UUID, context: Signed) -> Response:
    async with context.transaction() as tx:
        await reauthentication.end_one(tx, context.session.person_id, session_id, by=context.by, at=context.at)
    return back_to_account("That session is ended.")


@router.post("/sessions/end-others")
async def end_other_sessions(context: Signed) -> Response:
    async with context.transaction() as tx:
        ended = await reauthentication.end_others(
            tx, context.session.person_id, context.session.id, by=context.by, at=context.at
        )
    return back_to_account("Everywhere else you are signed out." if ended else "You were signed in nowhere else.")


async def _show(context: Context, *, name: Form | None = None, new_password: Form | None = None) -> Response:
    person_id = context.session.person_id
    async with context.db.autocommit() as tx:
        facts = {
            "passkeys": await passkey.passkeys_of(tx, person_id),
            "has_password": await password.known_of(tx, person_id) is not None,
            "codes": await one_time_code.wants_code(tx, person_id),
            "recovery_left": await recovery_codes.recovery_codes_left(tx, person_id),
            "notices": await notices.notices_of(tx, person_id),
            "proven": await staff.is_proven(tx, person_id),
            "by_mail": context.studio.letters.enabled,
            "sessions": await reauthentication.open_sessions(tx, person_id, at=context.at),
        }
    status = 422 if name or new_password else 200
    forms = {"name_form": name or Form.of(name=context.session.name), "password_form": new_password or Form.of()}
    return context.page("account/account.html", status=status, browser_name=browser_name, **forms, **facts)


async def _show_codes(context: Context, form: Form, status: int = 200) -> Response:
    async with context.db.autocommit() as tx:
        begun = await one_time_code.pending_enrolment(
            tx, context.session.person_id, context.session.email, context.vault
        )
    if begun is None:
        return RedirectResponse(ACCOUNT, 303)
    return context.page("account/codes.html", form=form, begun=begun, status=status)


def back_to_account(flash: str) -> Response:
    return back_to(ACCOUNT, flash)


def back_to(page: str, flash: str) -> Response:
    response = RedirectResponse(page, 303)
    cookies.set_flash(response, flash)
    return response
