"""Showing again who one is, before secrets: with a passkey, or with the password and a code if one is set.

The session gets another cookie then. For ten minutes it may touch secrets.
"""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain.staff import Session, confirming, one_time_code, passkey, password, recovery, throttling
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.throttling import MustWait
from gatepass.studio.entrance import SignedIn
from gatepass.studio.form import Form
from gatepass.studio.lobby import AtTheDoor, Lobby, go_on

router = APIRouter()

WRONG: Final = "The password is not right."
WRONG_CODE: Final = "This code is not right, or it was used already. Wait for the next one."
NOT_RECOGNIZED: Final = "This passkey was not recognized. Try again."


@router.get("/confirm")
async def confirm(session: SignedIn, door: AtTheDoor, next: str = "") -> Response:
    return await _ask(door, session, Form.of(next=next))


@router.post("/confirm")
async def with_password(session: SignedIn, door: AtTheDoor) -> Response:
    form = await door.form()
    subject = throttling.password_of(session.email)
    try:
        async with door.transaction() as tx:
            await throttling.count_try(tx, subject, at=door.at)
            known = await password.known_of(tx, session.person_id)
    except MustWait as wait:
        form.errors["password"] = str(wait)
        return door.waiting(await _ask(door, session, form, 429), wait.retry_after)
    compared = await door.studio.passwords.compare(form.value("password"), known.hash if known else None)
    if not compared.matches:
        form.errors["password"] = WRONG
        return await _ask(door, session, form, 422)
    try:
        async with door.transaction() as tx:
            await throttling.forgive(tx, subject)
            if await _code_is_right(tx, door, session, form.value("code")[:100]):
                return go_on(form.value("next"), await confirming.confirm(tx, session.id, at=door.at))
    except MustWait as wait:
        form.errors["code"] = str(wait)
        return door.waiting(await _ask(door, session, form, 429), wait.retry_after)
    form.errors["code"] = WRONG_CODE
    return await _ask(door, session, form, 422)


async def _code_is_right(tx: Tx, door: Lobby, session: Session, code: str) -> bool:
    """Also if none is asked for."""
    if not await one_time_code.wants_code(tx, session.person_id):
        return True
    subject = throttling.code_of(session.person_id)
    await throttling.count_try(tx, subject, at=door.at)
    right = await one_time_code.accept_code(
        tx, session.person_id, code, door.studio.vault, at=door.at
    ) or await recovery.accept_recovery_code(tx, session.person_id, code, at=door.at)
    if right:
        await throttling.forgive(tx, subject)
    return right


@router.post("/confirm/passkey/options")
async def passkey_options(session: SignedIn, door: AtTheDoor) -> Response:
    async with door.transaction() as tx:
        options = await passkey.ask_to_confirm(tx, door.studio.party, session.person_id, at=door.at)
    return Response(options, media_type="application/json")


@router.post("/confirm/passkey")
async def with_passkey(session: SignedIn, door: AtTheDoor) -> Response:
    form = await door.form()
    async with door.transaction() as tx:
        recognized = await passkey.recognize(
            tx, door.studio.party, form.value("answer"),
            purpose=Purpose.CONFIRM, person_id=session.person_id, at=door.at,
        )  # fmt: skip
        token = await confirming.confirm(tx, session.id, at=door.at) if recognized else None
    if token is None:
        form.errors[""] = NOT_RECOGNIZED
        return await _ask(door, session, form, 422)
    return go_on(form.value("next"), token)


async def _ask(door: Lobby, session: Session, form: Form, status: int = 200) -> Response:
    async with door.studio.db.reading() as tx:
        facts = {
            "has_passkeys": bool(await passkey.passkeys_of(tx, session.person_id)),
            "has_password": await password.known_of(tx, session.person_id) is not None,
            "wants_code": await one_time_code.wants_code(tx, session.person_id),
        }
    return door.page("confirm/confirm.html", form=form, session=session, status=status, **facts)
