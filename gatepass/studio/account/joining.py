"""Joining an organization with an account that exists: the person is signed in, and has the link of an invitation.

Unless the operator or a mailed link has proven that an account belongs to its address, it joins with a new password or
passkey, and all that it had before is removed: somebody else may have made the account and kept a way in. The person
confirms first with what they have, so that a stolen session and an invitation of the thief's own are not enough.
"""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from gatepass.domain import staff
from gatepass.domain.staff import Session, account, invitations, passkey
from gatepass.domain.staff.invitations import ForSomebodyElse, ReceivedInvitation
from gatepass.domain.staff.passkey import PasskeyNotKept
from gatepass.domain.staff.password import WeakPassword
from gatepass.domain.staff.person import folded
from gatepass.studio.account.credentials import changing_account, require_confirmed
from gatepass.studio.account.new_credential import NewCredential
from gatepass.studio.account.sign_up import (
    find_offer,
    find_usable_offer,
    greeting,
    show,
    show_by_mail,
    wants_letter,
)
from gatepass.studio.web import cookies
from gatepass.studio.web.auth import HOME, Public, PublicContext, SignedIn, redirect_signed_in
from gatepass.studio.web.forms import Form
from gatepass.studio.web.security_events import note_opened

router = APIRouter()


class NewPasswordForm(BaseModel):
    password: str


@router.get("/welcome/{token}")
async def welcome(token: str, context: Public) -> Response:
    offer, session = await find_offer(context, token), await context.session()
    await note_opened(context.request, context.studio, offer, session)
    invited = session if session is not None and _is_for(offer, session) else None
    proven = invited is not None and await _is_proven(context, invited)
    if wants_letter(context, offer) and not proven:
        return show_by_mail(context, token, offer)
    if invited is None:
        return show(context, token, offer, Form.of(), session=session)
    if not proven:
        await _confirm(context, invited)
    return show(context, token, offer, Form.of(), session=invited, mine=True, proven=proven)


@router.post("/welcome/{token}/join")
async def join(token: str, context: Public) -> Response:
    """Somebody who is signed in accepts the invitation, and switches to that organization."""
    session = await context.session()
    if session is None:
        return RedirectResponse(_page(context), 303)
    if not await _is_proven(context, session):
        return await _join_with_password(token, context, session)
    async with changing_account(context, session) as tx:
        offer = await invitations.find_invitation(tx, token, at=context.at)
        await invitations.accept(tx, offer, session.person_id, session.email, at=context.at)
        await staff.switch_organization(tx, session.id, offer.organization_id, person_id=session.person_id)
    response = RedirectResponse(HOME, 303)
    cookies.set_flash(response, greeting(offer))
    return response


@router.post("/welcome/{token}/join/passkey/options")
async def passkey_options(token: str, context: Public, session: SignedIn) -> Response:
    await _offer_for(context, token, session)
    await _confirm(context, session)
    async with context.transaction() as tx:
        options = await passkey.begin_registration(
            tx, context.studio.party, session.person_id, session.email, session.name, at=context.at, anew=True
        )
    return Response(options, media_type="application/json")


@router.post("/welcome/{token}/join/passkey")
async def with_passkey(token: str, context: Public, session: SignedIn) -> Response:
    form = await context.form()
    offer = await _offer_for(context, token, session)
    await _confirm(context, session)
    return await _join_anew(context, token, offer, session, form, NewCredential(answer=form.value("answer")))


async def _join_with_password(token: str, context: PublicContext, session: Session) -> Response:
    form = await context.form()
    offer = await _offer_for(context, token, session)
    await _confirm(context, session)
    typed = form.read(NewPasswordForm)
    if typed is not None:
        about = [session.name, session.email, offer.organization_name]
        try:
            hash = await context.studio.passwords.hash_new(typed.password, about)
        except WeakPassword as weak:
            form.errors["password"] = str(weak)
        else:
            return await _join_anew(context, token, offer, session, form, NewCredential(hash=hash))
    return show(context, token, offer, form, status=422, session=session, mine=True, proven=False)


async def _join_anew(
    context: PublicContext,
    token: str,
    offer: ReceivedInvitation,
    session: Session,
    form: Form,
    credential: NewCredential,
) -> Response:
    """Remove everything, join, and begin again with the new credential and a new session, in one transaction."""
    by = f"person {session.person_id}"
    try:
        async with changing_account(context, session) as tx:
            await account.reset(tx, session.person_id, by=by, at=context.at)
            await invitations.accept(tx, offer, session.person_id, session.email, at=context.at)
            await credential.add(tx, context.studio.party, session.person_id, at=context.at)
            cookie = await context.open_session(
                tx, session.person_id, credential.means, in_organization=offer.organization_id
            )
    except PasskeyNotKept as not_made:
        form.errors[""] = str(not_made)
        return show(context, token, offer, form, status=422, session=session, mine=True, proven=False)
    return redirect_signed_in(HOME, cookie, greeting(offer))


async def _offer_for(context: PublicContext, token: str, session: Session) -> ReceivedInvitation:
    offer = await find_usable_offer(context, token)
    if not _is_for(offer, session):
        raise ForSomebodyElse
    return offer


async def _is_proven(context: PublicContext, session: Session) -> bool:
    async with context.studio.db.autocommit() as tx:
        return await staff.is_proven(tx, session.person_id)


async def _confirm(context: PublicContext, session: Session) -> None:
    async with context.studio.db.autocommit() as tx:
        await require_confirmed(tx, context, session, _page(context))


def _is_for(offer: ReceivedInvitation, session: Session) -> bool:
    return folded(session.email) == folded(offer.email)


def _page(context: PublicContext) -> str:
    """The page of the invitation, whichever of its forms was sent."""
    return context.request.url.path.partition("/join")[0]
