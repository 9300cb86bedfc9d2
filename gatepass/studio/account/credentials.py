"""What the pages of accounts share: checking a password and a second factor, and changing credentials safely."""

from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote
from uuid import UUID

from starlette.background import BackgroundTask
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import security_log, staff
from gatepass.domain.security_log import NOBODY, Action, Means
from gatepass.domain.staff import Session, challenge, one_time_code, passkey, password, recovery_codes, throttle
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.password import Compared, Known
from gatepass.studio.services.templates import ROOT
from gatepass.studio.web.auth import PublicContext, RedirectRequired
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form

WRONG_CODE: Final = "This code is not right, or it was used already. Wait for the next one."
LONGEST_CODE: Final = 100
# The reasons of a failure, as the audit log and the log have them.
WRONG_PASSWORD: Final = "wrong_password"  # noqa: S105
WRONG_SECOND_FACTOR: Final = "wrong_code"
WRONG_PASSKEY: Final = "wrong_passkey"
WRONG_LINK: Final = "wrong_link"
TOO_EARLY: Final = "must_wait"


async def check_password(
    context: PublicContext, email: str, typed: str, *, person_id: UUID | None = None
) -> tuple[Known | None, Compared]:
    """Compare with the password of this person, or of the person with this e-mail address.

    Every check counts as a try; MustWait after too many.
    """
    async with context.transaction() as tx:
        await throttle.count_try(tx, throttle.password_of(email), at=context.at)
        known = await (password.known(tx, email) if person_id is None else password.known_of(tx, person_id))
    return known, await context.studio.passwords.compare(typed, known.hash if known else None)


async def accept_second_factor(tx: Tx, context: PublicContext, person_id: UUID, typed: str) -> Means | None:
    """What this is, if it is a one-time code or a recovery code of the person.

    Every check counts as a try; MustWait after too many. The caller forgives the tries once all else is right.
    """
    code = typed[:LONGEST_CODE]
    await throttle.count_try(tx, throttle.code_of(person_id), at=context.at)
    if await one_time_code.accept_code(tx, person_id, code, context.studio.vault, at=context.at):
        return Means.PASSWORD_AND_CODE
    used = await recovery_codes.accept_recovery_code(tx, person_id, code, at=context.at)
    return Means.RECOVERY_CODE if used else None


async def ask_for_code(tx: Tx, context: PublicContext, person_id: UUID, *, next: str) -> Response:
    """The page that asks for the second factor. What was right so far is kept for five minutes."""
    asked = await challenge.issue(tx, Purpose.SECOND_FACTOR, person_id, at=context.at)
    form = Form.of(next=next, asked=urlsafe_b64encode(asked).decode())
    return context.page("sign_in/code.html", form=form)


async def require_confirmed(tx: Tx, context: Context | PublicContext, session: Session, page: str) -> None:
    """Redirect to /confirm and back to `page`, unless the person has nothing to confirm with yet."""
    if session.is_reauthenticated(context.at):
        return
    if await password.known_of(tx, session.person_id) or await passkey.passkeys_of(tx, session.person_id):
        raise RedirectRequired(f"{ROOT}/confirm?next={quote(page)}")


@asynccontextmanager
async def changing_account(context: Context | PublicContext, session: Session) -> AsyncGenerator[Tx]:
    """A transaction that changes how a person signs in, or where they belong.

    There is one at a time for each person, and none for a session that was ended meanwhile: a request that began
    before a reset must not plant a credential after it.
    """
    async with context.transaction() as tx:
        await staff.lock_person(tx, session.person_id)
        if not await staff.is_open(tx, session.id, at=context.at):
            raise RedirectRequired(f"{ROOT}/sign-in")
        yield tx


def noting_failure(response: Response, context: PublicContext, email: str, reason: str) -> Response:
    """The response. The event is written after it is sent, so that its time does not say whether the person exists."""
    response.background = BackgroundTask(_note_failed_sign_in, context, email, reason)
    return response


async def _note_failed_sign_in(context: PublicContext, email: str, reason: str) -> None:
    email_hash = throttle.password_of(email).hash.hex()[:16]
    if reason == TOO_EARLY and not context.studio.refusals.allows(reason, email_hash):
        return
    async with context.transaction() as tx:
        known = await password.known(tx, email)
        if known is not None:
            await context.note(tx, known.person_id, Action.SIGN_IN_FAILED, by=NOBODY, reason=reason)
    if known is None:
        security_log.line(Action.SIGN_IN_FAILED, address=tx.address, reason=reason, email_hash=email_hash)


async def note_too_early(context: PublicContext, person_id: UUID, action: Action, *, by: str) -> None:
    """A try came before its wait was over. One entry a minute: whoever tries on must not fill the audit log."""
    if context.studio.refusals.allows(f"{action} {TOO_EARLY}", person_id):
        async with context.transaction() as tx:
            await context.note(tx, person_id, action, by=by, reason=TOO_EARLY)
