"""Re-authentication before secrets: with a passkey, or with the password and, if set, a code. Required second factors.

The session gets a new cookie. It may see and change secrets for ten minutes.
"""

from typing import Final

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.domain.security_log import Action, Means
from gatepass.domain.staff import Session, one_time_code, passkey, password, reauthentication, throttle
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.throttle import MustWait
from gatepass.studio.account.credentials import (
    WRONG_CODE,
    WRONG_PASSKEY,
    WRONG_PASSWORD,
    WRONG_SECOND_FACTOR,
    accept_second_factor,
    check_password,
    note_too_early,
)
from gatepass.studio.web import cookies
from gatepass.studio.web.auth import Public, PublicContext, SignedIn, own_page, redirect_signed_in
from gatepass.studio.web.forms import Form

router = APIRouter()

WRONG: Final = "The password is not right."
NOT_DONE: Final = "It is you. What you sent before was not done: send it again."
NOT_RECOGNIZED: Final = "This passkey was not recognized. Try again."


@router.get("/confirm")
async def confirm(session: SignedIn, context: Public, next: str = "", undone: str = "") -> Response:
    return await _ask(context, session, Form.of(next=next, undone=undone))


@router.post("/confirm")
async def with_password(session: SignedIn, context: Public) -> Response:
    form = await context.form()
    try:
        _, compared = await check_password(context, session.email, form.value("password"), person_id=session.person_id)
    except MustWait as wait:
        return await _wait(context, session, form, "password", wait)
    if not compared.matches:
        form.errors["password"] = WRONG
        async with context.transaction() as tx:
            await _note_failure(tx, context, session, WRONG_PASSWORD)
        return await _ask(context, session, form, 422)
    try:
        async with context.transaction() as tx:
            await throttle.reset(tx, throttle.password_of(session.email))
            means = await _means(tx, context, session, form.value("code"))
            if means is not None:
                return _back(form, await _confirm(tx, context, session, means))
            await _note_failure(tx, context, session, WRONG_SECOND_FACTOR)
    except MustWait as wait:
        return await _wait(context, session, form, "code", wait)
    form.errors["code"] = WRONG_CODE
    return await _ask(context, session, form, 422)


def _back(form: Form, token: str) -> Response:
    """To the page that asked. What was sent before was not done, and nobody may think that it was."""
    response = redirect_signed_in(form.value("next"), token)
    if form.value("undone"):
        cookies.set_flash(response, NOT_DONE, warns=True)
    return response


async def _means(tx: Tx, context: PublicContext, session: Session, code: str) -> Means | None:
    """The password alone, for a person without a second factor; with one, the code must be right too."""
    if not await one_time_code.wants_code(tx, session.person_id):
        return Means.PASSWORD
    means = await accept_second_factor(tx, context, session.person_id, code)
    if means is not None:
        await throttle.reset(tx, throttle.code_of(session.person_id))
    return means


async def _confirm(tx: Tx, context: PublicContext, session: Session, means: Means) -> str:
    await context.note(tx, session.person_id, Action.CONFIRMED, by=session.actor, means=means)
    return await reauthentication.mark_reauthenticated(tx, session.id, at=context.at, second_factor=means.is_strong)


async def _note_failure(tx: Tx, context: PublicContext, session: Session, reason: str) -> None:
    await context.note(tx, session.person_id, Action.CONFIRMATION_FAILED, by=session.actor, reason=reason)


async def _wait(context: PublicContext, session: Session, form: Form, field: str, wait: MustWait) -> Response:
    await note_too_early(context, session.person_id, Action.CONFIRMATION_FAILED, by=session.actor)
    form.errors[field] = str(wait)
    return context.waiting(await _ask(context, session, form, 429), wait.retry_after)


@router.get("/second-factor")
async def second_factor(session: SignedIn, context: Public, next: str = "", undone: str = "") -> Response:
    """Where a session without a second factor goes if its organization requires one."""
    if session.second_factor or not session.requires_second_factor:
        return RedirectResponse(own_page(next), 303)
    async with context.studio.db.autocommit() as tx:
        has_one = bool(await passkey.passkeys_of(tx, session.person_id)) or await one_time_code.wants_code(
            tx, session.person_id
        )
    return context.page(
        "reauthenticate/second_factor.html", session=session, has_one=has_one, next=own_page(next), undone=bool(undone)
    )


@router.post("/confirm/passkey/options")
async def passkey_options(session: SignedIn, context: Public) -> Response:
    async with context.transaction() as tx:
        options = await passkey.begin_reauthentication(tx, context.studio.party, session.person_id, at=context.at)
    return Response(options, media_type="application/json")


@router.post("/confirm/passkey")
async def with_passkey(session: SignedIn, context: Public) -> Response:
    form = await context.form()
    async with context.transaction() as tx:
        recognized = await passkey.authenticate(
            tx, context.studio.party, form.value("answer"),
            purpose=Purpose.REAUTHENTICATE, person_id=session.person_id, at=context.at,
        )  # fmt: skip
        token = await _confirm(tx, context, session, Means.PASSKEY) if recognized else None
        if token is None and context.studio.refusals.allows(WRONG_PASSKEY, session.person_id):
            await _note_failure(tx, context, session, WRONG_PASSKEY)
    if token is None:
        form.errors[""] = NOT_RECOGNIZED
        return await _ask(context, session, form, 422)
    return _back(form, token)


async def _ask(context: PublicContext, session: Session, form: Form, status: int = 200) -> Response:
    async with context.studio.db.autocommit() as tx:
        facts = {
            "has_passkeys": bool(await passkey.passkeys_of(tx, session.person_id)),
            "has_password": await password.known_of(tx, session.person_id) is not None,
            "wants_code": await one_time_code.wants_code(tx, session.person_id),
        }
    return context.page("reauthenticate/reauthenticate.html", form=form, session=session, status=status, **facts)
