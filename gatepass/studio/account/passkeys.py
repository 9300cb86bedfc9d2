"""The passkeys of an account: adding, naming, removing."""

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.domain.staff import passkey, sessions
from gatepass.domain.staff.browser_name import browser_name
from gatepass.domain.staff.passkey import LONGEST_NAME, PasskeyNotKept
from gatepass.studio.account.credentials import changing_account, require_confirmed
from gatepass.studio.account.profile import ACCOUNT, Confirmed, Signed, back_to_account
from gatepass.studio.web.forms import OptionalLine

router = APIRouter(prefix="/account/passkeys")


class PasskeyForm(BaseModel):
    name: OptionalLine = ""


@router.get("")
async def remaining(context: Signed) -> Response:
    """After a new password: a passkey that somebody else added would still sign them in."""
    async with context.db.autocommit() as tx:
        found = await passkey.passkeys_of(tx, context.session.person_id)
    return context.page("account/passkeys.html", passkeys=found)


@router.post("/remove-all")
async def remove_all(context: Confirmed) -> Response:
    async with changing_account(context, context.session) as tx:
        person_id = context.session.person_id
        for one in await passkey.passkeys_of(tx, person_id):
            await passkey.remove(tx, person_id, one.id, by=context.by, at=context.at)
    return back_to_account("Every passkey is removed. Your password signs you in.")


@router.post("/options")
async def passkey_options(context: Signed) -> Response:
    session = context.session
    async with changing_account(context, context.session) as tx:
        await require_confirmed(tx, context, context.session, ACCOUNT)
        options = await passkey.begin_registration(
            tx, context.studio.party, session.person_id, session.email, session.name, at=context.at
        )
    return Response(options, media_type="application/json")


@router.post("")
async def add(context: Signed) -> Response:
    form = await context.form()
    named = form.read(PasskeyForm) or PasskeyForm()
    async with changing_account(context, context.session) as tx:
        await require_confirmed(tx, context, context.session, ACCOUNT)
        name = named.name or browser_name(context.request.headers.get("user-agent", ""))
        kept = await passkey.add(
            tx,
            context.studio.party,
            context.session.person_id,
            form.value("answer"),
            name,
            by=context.by,
            at=context.at,
        )
        if kept is not None:
            await sessions.mark_strong(tx, context.session.id)
    if kept is None:
        raise PasskeyNotKept
    return back_to_account("The passkey is added.")


@router.post("/{passkey_id}/rename")
async def rename(passkey_id: UUID, context: Signed) -> Response:
    named = (await context.form()).read(PasskeyForm)
    if named is None or not named.name:
        return back_to_account("A passkey needs a name.")
    async with changing_account(context, context.session) as tx:
        name = named.name[:LONGEST_NAME]
        await passkey.rename(tx, context.session.person_id, passkey_id, name, by=context.by, at=context.at)
    return back_to_account("The passkey is renamed.")


@router.post("/{passkey_id}/remove")
async def remove(passkey_id: UUID, context: Confirmed) -> Response:
    async with changing_account(context, context.session) as tx:
        await passkey.remove(tx, context.session.person_id, passkey_id, by=context.by, at=context.at)
    return back_to_account("The passkey is removed. Delete it on the device too.")
