"""Signing up: somebody follows the link of an invitation, types a name, and makes a passkey or a password.

A person with an account signs in first; see joining.py. The page is the same for everybody who is not signed in. An
account in no organization, whose address nobody has proven, has nothing to lose: the bearer of a link replaces it.

With a mail server, only a link that was mailed makes an account: one that somebody handed over proves no address. Its
page sends the invitation to that address instead.
"""

from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from gatepass.domain import staff
from gatepass.domain.mail import AddressNotSendable
from gatepass.domain.staff import EmailTaken, Session, account, invitations, passkey
from gatepass.domain.staff.invitations import ReceivedInvitation
from gatepass.domain.staff.mail import invitation as mailed_invitation
from gatepass.domain.staff.mail.allowance import TooManyLetters
from gatepass.domain.staff.passkey import PasskeyNotKept
from gatepass.domain.staff.password import WeakPassword
from gatepass.studio.account.new_credential import NewCredential
from gatepass.studio.services.templates import ROOT
from gatepass.studio.web.auth import HOME, Public, PublicContext, RedirectRequired, redirect_signed_in
from gatepass.studio.web.forms import Form, Line

router = APIRouter()

NAME_NEEDED: Final = "Say your name first."
NOT_THIS_WAY: Final = (
    "There is an account with this address, so this invitation cannot make a new one. Sign in with it first, then open "
    "this link again. If it is not yours, or you have lost it, ask the operator of this installation for a link."
)


class SignUpForm(BaseModel):
    name: Line


class PasswordSignUpForm(SignUpForm):
    password: str


@router.post("/welcome/{token}")
async def with_password(token: str, context: Public) -> Response:
    form = await context.form()
    offer = await find_usable_offer(context, token)
    typed = form.read(PasswordSignUpForm)
    if typed is not None:
        about = [typed.name, offer.email, offer.organization_name]
        try:
            hash = await context.studio.passwords.hash_new(typed.password, about)
        except WeakPassword as weak:
            form.errors["password"] = str(weak)
        else:
            return await _sign_up(context, token, form, typed.name, NewCredential(hash=hash))
    return show(context, token, offer, form, status=422)


@router.post("/welcome/{token}/passkey/options")
async def passkey_options(token: str, context: Public) -> Response:
    form = await context.form()
    named = form.read(SignUpForm)
    if named is None:
        return JSONResponse({"error": form.error("name") and NAME_NEEDED}, 422)
    offer = await find_usable_offer(context, token)
    async with context.transaction() as tx:
        options = await passkey.begin_registration(
            tx, context.studio.party, offer.id, offer.email, named.name, at=context.at
        )
    return Response(options, media_type="application/json")


@router.post("/welcome/{token}/passkey")
async def with_passkey(token: str, context: Public) -> Response:
    form = await context.form()
    named = form.read(SignUpForm)
    if named is None:
        return show(context, token, await find_usable_offer(context, token), form, status=422)
    return await _sign_up(context, token, form, named.name, NewCredential(answer=form.value("answer")))


async def _sign_up(context: PublicContext, token: str, form: Form, name: str, credential: NewCredential) -> Response:
    """The person, the membership, the passkey or password and the session, in one transaction."""
    offer = await find_usable_offer(context, token)
    try:
        async with context.transaction() as tx:
            await account.free_address(tx, offer.email, at=context.at, proven=offer.mailed)
            # The person gets the id of the invitation: the passkey, made before the person, names it as its owner.
            person = await staff.enrol(tx, offer.email, name, at=context.at, id=offer.id)
            await invitations.accept(tx, offer, person.id, person.email, at=context.at)
            await credential.add(tx, context.studio.party, person.id, at=context.at)
            session = await context.open_session(tx, person.id, credential.means)
    except EmailTaken:
        form.errors[""] = NOT_THIS_WAY
    except PasskeyNotKept as not_made:
        form.errors[""] = str(not_made)
    else:
        return redirect_signed_in(HOME, session, greeting(offer))
    return show(context, token, offer, form, status=422)


@router.post("/welcome/{token}/mail")
async def mail_instead(token: str, context: Public) -> Response:
    """The link was handed over. Its invitation goes to the address, by a new link; this one ends."""
    offer = await find_offer(context, token)
    if not wants_letter(context, offer):
        raise RedirectRequired(_page(token))
    try:
        async with context.transaction() as tx:
            await mailed_invitation.send_instead(
                tx, context.studio.letters, offer, token, cell=context.studio.settings.cell, at=context.at
            )
    except (TooManyLetters, AddressNotSendable) as refusal:
        return show_by_mail(context, token, offer, refused=str(refusal))
    return show_by_mail(context, token, offer, sent=True)


def wants_letter(context: PublicContext, offer: ReceivedInvitation) -> bool:
    return context.studio.letters.enabled and not offer.proves_email


async def find_usable_offer(context: PublicContext, token: str) -> ReceivedInvitation:
    """The invitation, if its link may make or join an account; else to its page, which says how."""
    offer = await find_offer(context, token)
    if wants_letter(context, offer):
        raise RedirectRequired(_page(token))
    return offer


async def find_offer(context: PublicContext, token: str) -> ReceivedInvitation:
    async with context.studio.db.autocommit() as tx:
        return await invitations.find_invitation(tx, token, at=context.at)


def show_by_mail(
    context: PublicContext, token: str, offer: ReceivedInvitation, *, sent: bool = False, refused: str = ""
) -> Response:
    """The page of an invitation that was handed over: it goes by mail."""
    facts = {"offer": offer, "sent": sent, "refused": refused, "url": _page(token)}
    return context.page("sign_up/by_mail.html", status=422 if refused else 200, **facts)


def show(
    context: PublicContext,
    token: str,
    offer: ReceivedInvitation,
    form: Form,
    *,
    status: int = 200,
    session: Session | None = None,
    mine: bool = False,
    proven: bool = False,
) -> Response:
    """The page of an invitation. `mine` and `proven` are about the account of somebody who is signed in."""
    facts = {"offer": offer, "form": form, "session": session, "mine": mine, "proven": proven}
    return context.page("sign_up/sign_up.html", status=status, url=_page(token), **facts)


def _page(token: str) -> str:
    return f"{ROOT}/welcome/{token}"


def greeting(offer: ReceivedInvitation) -> str:
    return f"Welcome to {offer.organization_name}. You are here as {offer.role.spoken}."
