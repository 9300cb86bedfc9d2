"""The passkeys of an account: adding, naming, removing."""

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from gatepass.domain.staff import passkey
from gatepass.domain.staff.passkey import LONGEST_NAME, PasskeyNotKept
from gatepass.studio import cookies
from gatepass.studio.account import ACCOUNT, Confirmed, Signed, first_or_confirmed
from gatepass.studio.browsers import browser_name
from gatepass.studio.form import OptionalLine

router = APIRouter(prefix="/account/passkeys")


class Named(BaseModel):
    name: OptionalLine = ""


@router.post("/options")
async def options(visit: Signed) -> Response:
    session = visit.session
    async with visit.transaction() as tx:
        await first_or_confirmed(tx, visit)
        asked = await passkey.ask_to_create(
            tx, visit.studio.party, session.person_id, session.email, session.name, at=visit.at
        )
    return Response(asked, media_type="application/json")


@router.post("")
async def add(visit: Signed) -> Response:
    form = await visit.form()
    named = form.read(Named) or Named()
    async with visit.transaction() as tx:
        await first_or_confirmed(tx, visit)
        name = named.name or browser_name(visit.request.headers.get("user-agent", ""))
        kept = await passkey.add(
            tx, visit.studio.party, visit.session.person_id, form.value("answer"), name, by=visit.by, at=visit.at
        )
    if kept is None:
        raise PasskeyNotKept
    return _back("The passkey is added.")


@router.post("/{passkey_id}/rename")
async def rename(passkey_id: UUID, visit: Signed) -> Response:
    named = (await visit.form()).read(Named)
    if named is None or not named.name:
        return _back("A passkey needs a name.")
    async with visit.transaction() as tx:
        name = named.name[:LONGEST_NAME]
        await passkey.rename(tx, visit.session.person_id, passkey_id, name, by=visit.by, at=visit.at)
    return _back("The passkey is renamed.")


@router.post("/{passkey_id}/remove")
async def remove(passkey_id: UUID, visit: Confirmed) -> Response:
    async with visit.transaction() as tx:
        await passkey.remove(tx, visit.session.person_id, passkey_id, by=visit.by, at=visit.at)
    return _back("The passkey is removed. Delete it on the device too.")


def _back(said: str) -> Response:
    response = RedirectResponse(ACCOUNT, 303)
    cookies.say(response, said)
    return response
