"""Notices about the account: "it was me", or "it was not me", which ends every other session."""

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain.staff import membership, notices, reauthentication
from gatepass.studio.account.profile import Signed, back_to_account

router = APIRouter(prefix="/account/notices")


@router.post("/seen")
async def seen(context: Signed) -> Response:
    async with context.transaction() as tx:
        await notices.mark_seen(tx, context.session.person_id, at=context.at)
    return back_to_account("Thank you. The notices stay in the list below.")


@router.post("/not-me")
async def not_me(context: Signed) -> Response:
    """What helps at once is done here. What needs a decision, the person does next, on the same page."""
    person_id = context.session.person_id
    async with context.transaction() as tx:
        await reauthentication.end_others(tx, person_id, context.session.id, by=context.by, at=context.at)
        await membership.note_everywhere(tx, person_id, "activity_disowned", by=context.by, at=context.at)
        await notices.mark_seen(tx, person_id, at=context.at)
    return back_to_account(
        "Everywhere else you are signed out. Now remove passkeys that you do not know, set a new password, and make "
        "new recovery codes. Tell an owner of your organization."
    )
