"""Signing in: with a passkey, or with e-mail address and password and then, if set, a code. And signing out.

No answer here says whether an e-mail address is known: the words are the same, and so is the time it takes.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.responses import RedirectResponse, Response

from gatepass.domain import staff
from gatepass.domain.staff import challenge, one_time_code, passkey, password, recovery, throttling
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.password import Compared, Known
from gatepass.domain.staff.throttling import MustWait
from gatepass.studio import cookies
from gatepass.studio.drawing import ROOT
from gatepass.studio.form import Form, Line
from gatepass.studio.lobby import AtTheDoor, Lobby, go_on, own_page

router = APIRouter()

WRONG: Final = "The e-mail address or the password is not right."
WRONG_CODE: Final = "This code is not right, or it was used already. Wait for the next one."
NOT_RECOGNIZED: Final = "This passkey was not recognized here. Try again, or sign in another way."
TOO_LATE: Final = "That took too long. Sign in again."


class Typed(BaseModel):
    email: Annotated[Line, StringConstraints(max_length=320)]
    password: str


@router.get("/sign-in")
async def sign_in(door: AtTheDoor, next: str = "") -> Response:
    if await door.session() is not None:
        return RedirectResponse(own_page(next), 303)
    return _ask(door, Form.of(next=next))


@router.post("/sign-in")
async def with_password(door: AtTheDoor) -> Response:
    form = await door.form()
    typed = form.read(Typed)
    if typed is None:
        return _ask(door, form, 422)
    try:
        async with door.transaction() as tx:
            await throttling.count_try(tx, throttling.password_of(typed.email), at=door.at)
            known = await password.known(tx, typed.email)
    except MustWait as wait:
        form.errors[""] = str(wait)
        return door.waiting(_ask(door, form, 429), wait.retry_after)
    compared = await door.studio.passwords.compare(typed.password, known.hash if known else None)
    if known is None or not compared.matches:
        form.errors[""] = WRONG
        return _ask(door, form, 422)
    return await _go_in(door, form, typed.email, known, compared)


async def _go_in(door: Lobby, form: Form, email: str, known: Known, compared: Compared) -> Response:
    """The password was right: to the studio, or to the question for a code."""
    async with door.transaction() as tx:
        await throttling.forgive(tx, throttling.password_of(email))
        if compared.rehashed:
            await password.keep(tx, known.person_id, compared.rehashed, at=door.at)
        if await one_time_code.wants_code(tx, known.person_id):
            asked = await challenge.ask(tx, Purpose.SECOND_FACTOR, known.person_id, at=door.at)
            begun = Form.of(next=form.value("next"), asked=urlsafe_b64encode(asked).decode())
            return door.page("sign_in/code.html", form=begun)
        token = await door.open_session(tx, known.person_id)
    return go_on(form.value("next"), token)


@router.post("/sign-in/code")
async def with_code(door: AtTheDoor) -> Response:
    form = await door.form()
    asked = _decoded(form.value("asked"))
    try:
        async with door.transaction() as tx:
            person_id = await challenge.asked(tx, Purpose.SECOND_FACTOR, asked, at=door.at)
            if person_id is None:
                return _ask_again(form)
            subject = throttling.code_of(person_id)
            await throttling.count_try(tx, subject, at=door.at)
            code = form.value("code")[:100]
            right = await one_time_code.accept_code(
                tx, person_id, code, door.studio.vault, at=door.at
            ) or await recovery.accept_recovery_code(tx, person_id, code, at=door.at)
            if right and await challenge.take(tx, Purpose.SECOND_FACTOR, asked, person_id, at=door.at):
                await throttling.forgive(tx, subject)
                return go_on(form.value("next"), await door.open_session(tx, person_id))
    except MustWait as wait:
        form.errors["code"] = str(wait)
        return door.waiting(door.page("sign_in/code.html", form=form, status=429), wait.retry_after)
    form.errors["code"] = WRONG_CODE
    return door.page("sign_in/code.html", form=form, status=422)


@router.post("/sign-in/passkey/options")
async def passkey_options(door: AtTheDoor) -> Response:
    async with door.transaction() as tx:
        options = await passkey.ask_to_sign_in(tx, door.studio.party, at=door.at)
    return Response(options, media_type="application/json")


@router.post("/sign-in/passkey")
async def with_passkey(door: AtTheDoor) -> Response:
    form = await door.form()
    async with door.transaction() as tx:
        answer = form.value("answer")
        person_id = await passkey.recognize(tx, door.studio.party, answer, purpose=Purpose.SIGN_IN, at=door.at)
        token = await door.open_session(tx, person_id) if person_id else None
    if token is None:
        form.errors[""] = NOT_RECOGNIZED
        return _ask(door, form, 422)
    return go_on(form.value("next"), token)


@router.post("/sign-out")
async def sign_out(door: AtTheDoor) -> Response:
    session = await door.session()
    if session is not None:
        async with door.transaction() as tx:
            await staff.end(tx, session.id, at=door.at)
    response = RedirectResponse(f"{ROOT}/sign-in", 303)
    cookies.forget_session(response)
    cookies.say(response, "You are signed out.")
    return response


def _ask(door: Lobby, form: Form, status: int = 200) -> Response:
    return door.page("sign_in/sign_in.html", form=form, origin=door.studio.party.origin, status=status)


def _ask_again(form: Form) -> Response:
    response = RedirectResponse(f"{ROOT}/sign-in?next={quote(own_page(form.value('next')))}", 303)
    cookies.say(response, TOO_LATE)
    return response


def _decoded(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text)
    except ValueError:
        return b""
