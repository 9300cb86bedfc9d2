"""The e-mail address of an account: changed for another, and proven, by a link that goes there.

The link works for the account that asked for it, in a confirmed session: who reads the letters of an address that
somebody mistyped gets no account by it. Opening it changes nothing.
"""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.responses import Response

from gatepass.base.errors import InvalidRequest
from gatepass.domain import staff
from gatepass.domain.mail import AddressNotSendable
from gatepass.domain.staff import EmailTaken, Person, Session, passkey
from gatepass.domain.staff.mail import address, allowance, links
from gatepass.domain.staff.mail.address import ProofNotFound
from gatepass.domain.staff.mail.allowance import TooManyLetters
from gatepass.domain.staff.mail.links import AddressProof
from gatepass.domain.staff.passkey import PasskeyNotKept
from gatepass.domain.staff.password import WeakPassword
from gatepass.domain.staff.person import check_email, folded
from gatepass.studio.account.credentials import changing_account, require_confirmed
from gatepass.studio.account.new_credential import NewCredential
from gatepass.studio.account.profile import ACCOUNT, Confirmed, back_to_account
from gatepass.studio.services.templates import ROOT
from gatepass.studio.web.auth import Public, PublicContext, RedirectRequired, SignedIn, redirect_signed_in
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, Line
from gatepass.studio.web.tab import PageNotFound

router = APIRouter()


class AddressForm(BaseModel):
    email: Annotated[Line, StringConstraints(max_length=320)]


class NewPasswordForm(BaseModel):
    password: str


@router.get("/account/address")
async def ask(context: Confirmed) -> Response:
    _require_mail(context)
    return _ask(context, Form.of(email=context.session.email))


@router.post("/account/address")
async def send_proof(context: Confirmed) -> Response:
    """Send the link, to the address that the account has or to a new one. Nobody is told whether that is taken."""
    _require_mail(context)
    form = await context.form()
    typed = form.read(AddressForm)
    if typed is None:
        return _ask(context, form, 422)
    session, letters = context.session, context.studio.letters
    try:
        email = check_email(typed.email)
        async with changing_account(context, session) as tx:
            await allowance.take_for_proof(tx, email, person_id=session.person_id, at=context.at)
            await letters.send_proof(tx, session.person_id, session.name, email, at=context.at)
    except (InvalidRequest, AddressNotSendable, TooManyLetters) as refusal:
        form.errors["email"] = str(refusal)
        return _ask(context, form, 422)
    return context.page("account/address_mailed.html", email=email)


@router.get("/address/{token}")
async def proof(token: str, context: Public, session: SignedIn) -> Response:
    """What the link does, and a button. An account that nobody has proven chooses a new credential here."""
    found = await _found(context, session, token)
    return await _show(context, session, token, found, Form.of())


@router.post("/address/{token}")
async def prove(token: str, context: Public, session: SignedIn) -> Response:
    found, form = await _found(context, session, token), await context.form()
    if await _is_proven(context, session):
        try:
            async with changing_account(context, session) as tx:
                email = await address.prove(tx, context.studio.letters, _person(session), token, at=context.at)
        except EmailTaken as taken:
            form.errors[""] = str(taken)
            return await _show(context, session, token, found, form, 422)
        return back_to_account(f"Your address is {email}. Letters and links go there from now on.")
    typed = form.read(NewPasswordForm)
    if typed is not None:
        try:
            hash = await context.studio.passwords.hash_new(typed.password, [session.name, session.email, found.email])
        except WeakPassword as weak:
            form.errors["password"] = str(weak)
        else:
            return await _prove_anew(context, session, token, found, form, NewCredential(hash=hash))
    return await _show(context, session, token, found, form, 422)


@router.post("/address/{token}/passkey/options")
async def passkey_options(token: str, context: Public, session: SignedIn) -> Response:
    found = await _found(context, session, token)
    async with context.transaction() as tx:
        options = await passkey.begin_registration(
            tx, context.studio.party, session.person_id, found.email, session.name, at=context.at, anew=True
        )
    return Response(options, media_type="application/json")


@router.post("/address/{token}/passkey")
async def prove_with_passkey(token: str, context: Public, session: SignedIn) -> Response:
    found, form = await _found(context, session, token), await context.form()
    if await _is_proven(context, session):
        raise RedirectRequired(f"{ROOT}/address/{token}")
    return await _prove_anew(context, session, token, found, form, NewCredential(answer=form.value("answer")))


async def _prove_anew(
    context: PublicContext, session: Session, token: str, found: AddressProof, form: Form, credential: NewCredential
) -> Response:
    """Remove what the account signed in with, prove it, and begin with the new credential, in one transaction."""
    try:
        async with changing_account(context, session) as tx:
            await address.prove_anew(tx, context.studio.letters, _person(session), token, at=context.at)
            await credential.add(tx, context.studio.party, session.person_id, at=context.at)
            cookie = await context.open_session(
                tx, session.person_id, credential.means, in_organization=session.organization_id
            )
    except (PasskeyNotKept, EmailTaken) as refusal:
        form.errors[""] = str(refusal)
        return await _show(context, session, token, found, form, 422)
    return redirect_signed_in(ACCOUNT, cookie, f"{found.email} is proven to be yours.")


async def _found(context: PublicContext, session: Session, token: str) -> AddressProof:
    """The proof of this link, for the account that it is for, in a session that was confirmed lately."""
    async with context.studio.db.autocommit() as tx:
        found = await links.find_proof(tx, token, at=context.at)
        if found is None or found.person_id != session.person_id:
            raise ProofNotFound
        await require_confirmed(tx, context, session, f"{ROOT}/address/{token}")
    return found


async def _is_proven(context: PublicContext, session: Session) -> bool:
    async with context.studio.db.autocommit() as tx:
        return await staff.is_proven(tx, session.person_id)


async def _show(
    context: PublicContext, session: Session, token: str, found: AddressProof, form: Form, status: int = 200
) -> Response:
    facts = {
        "proof": found,
        "proven": await _is_proven(context, session),
        "changes": folded(found.email) != folded(session.email),
        "session": session,
        "form": form,
        "url": f"{ROOT}/address/{token}",
    }
    return context.page("account/address_proof.html", status=status, **facts)


def _person(session: Session) -> Person:
    return Person(session.person_id, session.email, session.name)


def _ask(context: Context, form: Form, status: int = 200) -> Response:
    return context.page("account/address.html", form=form, status=status)


def _require_mail(context: Context) -> None:
    if not context.studio.letters.enabled:
        raise PageNotFound("This service sends no mail, so it cannot prove an address.")
