"""Erasing a holder, for somebody who asks to be forgotten. Their cards, tickets and scans stay, without a name.

The search text is a card number or an e-mail address. It is sent with POST, so that it is in no URL and in no log.
"""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.domain import cards
from gatepass.domain.staff import Permission
from gatepass.studio.services.templates import plural
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, Line

router = APIRouter(prefix="/settings/erasure")

Eraser = Annotated[Context, may(Permission.HOLDERS_ERASE, confirmed=True)]


class HolderSearch(BaseModel):
    asked: Line


class HolderErasure(HolderSearch):
    """`seen` is the number of holders that the page showed: nobody else is erased."""

    seen: int


@router.get("")
async def ask(context: Eraser) -> Response:
    return context.page("settings/erasure.html", form=Form.of(), found=None)


@router.post("/found")
async def find(context: Eraser) -> Response:
    """Show who would be erased. Changes nothing."""
    form = await context.form()
    wanted = form.read(HolderSearch)
    if wanted is None:
        return context.page("settings/erasure.html", status=UNPROCESSABLE, form=form, found=None)
    async with context.db.autocommit() as tx:
        found = await cards.find_holders(tx, context.tenant_id, wanted.asked)
    return context.page("settings/erasure.html", form=form, **_facts(found))


@router.post("")
async def erase(context: Eraser) -> Response:
    """Erase the holders that the page showed, unless their number has changed."""
    form = await context.form()
    wanted = form.read(HolderErasure)
    if wanted is None:
        return context.page("settings/erasure.html", status=UNPROCESSABLE, form=form, found=None)
    async with context.tenant_transaction() as tx:
        found = await cards.find_holders(tx, context.tenant_id, wanted.asked)
        if len(found) != wanted.seen or not found:
            form.errors["asked"] = "There are others by now than when you looked. Look again before you erase."
            return context.page("settings/erasure.html", status=UNPROCESSABLE, form=form, **_facts(found))
        await cards.lock_all_held(tx, context.tenant_id, [holder.card_id for holder in found])
        for holder in found:
            await cards.erase_holder(tx, context.tenant_id, holder.card_id, by=context.by, at=context.at)
    return context.go("settings/erasure", f"Who held {plural(len(found), 'card')} is erased. The cards go on working.")


def _facts(found: list[cards.Holder]) -> dict[str, Any]:
    return {"found": found, "most": cards.MOST_FOUND}
