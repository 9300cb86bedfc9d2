"""Links that sign a person in once: those that the operator makes, and those that a person asks for by mail.

Opening one changes nothing, because mail scanners do so before people; the button of its page uses it. Asking for one
is answered before anybody looks whether there is an account, in the same words.
"""

from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.background import BackgroundTask
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import security_log, staff
from gatepass.domain.security_log import NOBODY, Action, Means
from gatepass.domain.staff import membership, one_time_code, passkey, password
from gatepass.domain.staff.mail import allowance, links
from gatepass.domain.staff.mail.allowance import TooManyLetters
from gatepass.studio.account.credentials import WRONG_LINK, ask_for_code
from gatepass.studio.web.auth import HOME, Public, PublicContext, redirect_signed_in
from gatepass.studio.web.forms import Form, Line
from gatepass.studio.web.tab import PageNotFound

router = APIRouter()

OPERATORS: Final = "Whoever runs this service makes a new one with `gatepass person link`."
BY_MAIL: Final = "Ask for a new one on the sign-in page."


class MailForm(BaseModel):
    email: Annotated[Line, StringConstraints(max_length=320)]


@router.get("/link/{token}")
async def link(token: str, context: Public) -> Response:
    """A page with a button. It does not look whether the link is valid, so it tells nothing to who guesses."""
    return context.page("sign_in/link.html", token=token)


@router.post("/link/{token}")
async def use_link(token: str, context: Public) -> Response:
    async with context.transaction() as tx:
        person_id = await staff.use_link(tx, token, at=context.at)
        if person_id is not None:
            return redirect_signed_in(HOME, await context.open_session(tx, person_id, Means.LINK))
        return await _use_mailed(tx, context, token)


async def _use_mailed(tx: Tx, context: PublicContext, token: str) -> Response:
    """It is worth as much as a password: who has codes is asked for one.

    Somebody who has passkeys and no password chose more than that. Their session may not change secrets until they
    confirm with a passkey.
    """
    person_id = await links.use_sign_in(tx, token, at=context.at)
    if person_id is None:
        security_log.line(Action.SIGN_IN_FAILED, address=tx.address, reason=WRONG_LINK)
        remedy = f"{BY_MAIL} Or: {OPERATORS}" if context.studio.letters.enabled else OPERATORS
        raise PageNotFound(f"This link was used already, or is too old. {remedy}")
    if await one_time_code.wants_code(tx, person_id):
        # The session will say "password and code", which is worth the same; this says what really came first.
        await membership.note_everywhere(tx, person_id, "mailed_link_used", by=NOBODY, at=context.at)
        return await ask_for_code(tx, context, person_id, next=HOME)
    passkeys_alone = await password.known_of(tx, person_id) is None and await passkey.passkeys_of(tx, person_id)
    session = await context.open_session(tx, person_id, Means.MAILED_LINK, confirmed=not passkeys_alone)
    return redirect_signed_in(HOME, session)


@router.get("/sign-in/mail")
async def mail_form(context: Public) -> Response:
    _require_mail(context)
    return _ask(context, Form.of())


@router.post("/sign-in/mail")
async def send_link(context: Public) -> Response:
    """Count the letter, answer, and only then look for the account: the answer's time says nothing either."""
    _require_mail(context)
    form = await context.form()
    typed = form.read(MailForm)
    if typed is None:
        return _ask(context, form, 422)
    try:
        async with context.transaction() as tx:
            await allowance.take_for_sign_in(tx, typed.email, at=context.at)
    except TooManyLetters as wait:
        form.errors["email"] = str(wait)
        return context.waiting(_ask(context, form, 429), wait.retry_after)
    response = context.page("sign_in/mailed.html", email=typed.email)
    response.background = BackgroundTask(_send, context, typed.email)
    return response


async def _send(context: PublicContext, email: str) -> None:
    async with context.transaction() as tx:
        await context.studio.letters.send_sign_in_link(tx, email, at=context.at)


def _require_mail(context: PublicContext) -> None:
    if not context.studio.letters.enabled:
        raise PageNotFound("This service sends no mail. Whoever runs it makes a link that signs you in.")


def _ask(context: PublicContext, form: Form, status: int = 200) -> Response:
    return context.page("sign_in/mail.html", form=form, status=status)
