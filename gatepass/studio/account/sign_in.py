"""Signing in: with a passkey, or with a password and then, if set, a code. Signing out. Links are in links.py.

Also here: choosing the organization to work in. No response says whether an e-mail address is known: the words are the
same, and so is the time it takes.
"""

from base64 import urlsafe_b64decode
from typing import Annotated, Final
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, StringConstraints
from starlette.responses import RedirectResponse, Response

from gatepass.domain import security_log, staff
from gatepass.domain.security_log import NOBODY, Action, Means
from gatepass.domain.staff import challenge, one_time_code, passkey, password, throttle
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.password import Compared, Known
from gatepass.domain.staff.throttle import MustWait
from gatepass.studio.account.credentials import (
    TOO_EARLY,
    WRONG_CODE,
    WRONG_PASSKEY,
    WRONG_PASSWORD,
    WRONG_SECOND_FACTOR,
    accept_second_factor,
    ask_for_code,
    check_password,
    note_too_early,
    noting_failure,
)
from gatepass.studio.services.templates import ROOT
from gatepass.studio.web import cookies
from gatepass.studio.web.auth import (
    HOME,
    CurrentStudio,
    Public,
    PublicContext,
    SignedIn,
    own_page,
    redirect_signed_in,
)
from gatepass.studio.web.forms import Form, Line, received
from gatepass.studio.web.tab import PageNotFound

router = APIRouter()

WRONG: Final = "The e-mail address or the password is not right."
NOT_RECOGNIZED: Final = "This passkey was not recognized here. Try again, or sign in another way."
TOO_LATE: Final = "That took too long. Sign in again."


class Credentials(BaseModel):
    email: Annotated[Line, StringConstraints(max_length=320)]
    password: str


@router.get("")
@router.get("/")
async def front(_session: SignedIn) -> Response:
    return RedirectResponse(HOME, 303)


@router.get("/organizations")
async def organizations(context: Public, session: SignedIn) -> Response:
    async with context.studio.db.autocommit() as tx:
        places = await staff.memberships(tx, session.person_id)
    return context.page("sign_in/organizations.html", places=places)


@router.post("/organizations")
async def choose_organization(request: Request, session: SignedIn, studio: CurrentStudio) -> Response:
    """Also from a page that was made for another organization: it says what to open after the switch."""
    form = await received(request)
    try:
        organization_id = UUID(form.value("organization_id"))
    except ValueError:
        raise PageNotFound from None
    async with studio.db.transaction() as tx:
        if not await staff.switch_organization(tx, session.id, organization_id, person_id=session.person_id):
            raise PageNotFound
    return RedirectResponse(own_page(form.value("next")), 303)


@router.get("/sign-in")
async def sign_in(context: Public, next: str = "", undone: str = "") -> Response:
    if await context.session() is not None:
        return RedirectResponse(own_page(next), 303)
    return _ask(context, Form.of(next=next, undone=undone))


@router.post("/sign-in")
async def with_password(context: Public) -> Response:
    form = await context.form()
    typed = form.read(Credentials)
    if typed is None:
        return _ask(context, form, 422)
    try:
        known, compared = await check_password(context, typed.email, typed.password)
    except MustWait as wait:
        form.errors[""] = str(wait)
        waiting = context.waiting(_ask(context, form, 429), wait.retry_after)
        return noting_failure(waiting, context, typed.email, TOO_EARLY)
    if known is None or not compared.matches:
        form.errors[""] = WRONG
        return noting_failure(_ask(context, form, 422), context, typed.email, WRONG_PASSWORD)
    return await _finish_sign_in(context, form, typed.email, known, compared)


async def _finish_sign_in(context: PublicContext, form: Form, email: str, known: Known, compared: Compared) -> Response:
    """The password was right: open a session, or ask for a code."""
    async with context.transaction() as tx:
        if not await password.is_still_set(tx, known):
            form.errors[""] = WRONG
            return _ask(context, form, 422)
        await throttle.reset(tx, throttle.password_of(email))
        if compared.rehashed:
            await password.keep(tx, known.person_id, compared.rehashed, at=context.at)
        if await one_time_code.wants_code(tx, known.person_id):
            return await ask_for_code(tx, context, known.person_id, next=form.value("next"))
        token = await context.open_session(tx, known.person_id, Means.PASSWORD)
    return redirect_signed_in(form.value("next"), token)


@router.post("/sign-in/code")
async def with_code(context: Public) -> Response:
    form = await context.form()
    asked = _decoded(form.value("asked"))
    async with context.studio.db.autocommit() as tx:
        person_id = await challenge.person_of(tx, Purpose.SECOND_FACTOR, asked, at=context.at)
    if person_id is None:
        return _ask_again(form)
    try:
        async with context.transaction() as tx:
            means = await accept_second_factor(tx, context, person_id, form.value("code"))
            if means and await challenge.consume(tx, Purpose.SECOND_FACTOR, asked, person_id, at=context.at):
                await throttle.reset(tx, throttle.code_of(person_id))
                return redirect_signed_in(form.value("next"), await context.open_session(tx, person_id, means))
            await context.note(tx, person_id, Action.SIGN_IN_FAILED, by=NOBODY, reason=WRONG_SECOND_FACTOR)
    except MustWait as wait:
        await note_too_early(context, person_id, Action.SIGN_IN_FAILED, by=NOBODY)
        form.errors["code"] = str(wait)
        return context.waiting(context.page("sign_in/code.html", form=form, status=429), wait.retry_after)
    form.errors["code"] = WRONG_CODE
    return context.page("sign_in/code.html", form=form, status=422)


@router.post("/sign-in/passkey/options")
async def passkey_options(context: Public) -> Response:
    async with context.transaction() as tx:
        options = await passkey.begin_sign_in(tx, context.studio.party, at=context.at)
    return Response(options, media_type="application/json")


@router.post("/sign-in/passkey")
async def with_passkey(context: Public) -> Response:
    form = await context.form()
    async with context.transaction() as tx:
        answer = form.value("answer")
        person_id = await passkey.authenticate(tx, context.studio.party, answer, purpose=Purpose.SIGN_IN, at=context.at)
        token = await context.open_session(tx, person_id, Means.PASSKEY) if person_id else None
    if token is None:
        security_log.line(Action.SIGN_IN_FAILED, address=tx.address, reason=WRONG_PASSKEY)
        form.errors[""] = NOT_RECOGNIZED
        return _ask(context, form, 422)
    return redirect_signed_in(form.value("next"), token)


@router.post("/sign-out")
async def sign_out(context: Public) -> Response:
    session = await context.session()
    if session is not None:
        async with context.transaction() as tx:
            await staff.end(tx, session.id, at=context.at)
            await context.note(tx, session.person_id, Action.SIGNED_OUT, by=session.actor)
    response = RedirectResponse(f"{ROOT}/sign-in", 303)
    cookies.clear_session(response)
    cookies.set_flash(response, "You are signed out.")
    return response


def _ask(context: PublicContext, form: Form, status: int = 200) -> Response:
    facts = {"origin": context.studio.party.origin, "by_mail": context.studio.letters.enabled}
    return context.page("sign_in/sign_in.html", form=form, status=status, **facts)


def _ask_again(form: Form) -> Response:
    response = RedirectResponse(f"{ROOT}/sign-in?next={quote(own_page(form.value('next')))}", 303)
    cookies.set_flash(response, TOO_LATE)
    return response


def _decoded(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text)
    except ValueError:
        return b""
