"""Erasing a holder: somebody asks to be forgotten, and is. Their cards, tickets and scans stay, without a name.

What is looked for is a name or an address, so it is posted: it stands in no address line and in no log.
"""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.domain import cards
from gatepass.domain.staff import Permission
from gatepass.studio.drawing import plural
from gatepass.studio.entrance import may
from gatepass.studio.form import Form, Line
from gatepass.studio.visit import UNPROCESSABLE, Visit

router = APIRouter(prefix="/settings/erasure")

Erasing = Annotated[Visit, may(Permission.HOLDERS_ERASE)]


class Search(BaseModel):
    asked: Line


class Erasure(Search):
    """`seen` is how many were shown: what was not seen is not erased."""

    seen: int


@router.get("")
async def ask(visit: Erasing) -> Response:
    return visit.page("settings/erasure.html", form=Form.of(), found=None)


@router.post("/found")
async def find(visit: Erasing) -> Response:
    """Changes nothing: it shows who would be erased."""
    form = await visit.form()
    wanted = form.read(Search)
    if wanted is None:
        return visit.page("settings/erasure.html", status=UNPROCESSABLE, form=form, found=None)
    async with visit.db.reading() as tx:
        found = await cards.holders_found(tx, visit.organization_id, wanted.asked)
    return visit.page("settings/erasure.html", form=form, **_facts(found))


@router.post("")
async def erase(visit: Erasing) -> Response:
    """Erase those who were shown, unless there are others by now."""
    form = await visit.form()
    wanted = form.read(Erasure)
    if wanted is None:
        return visit.page("settings/erasure.html", status=UNPROCESSABLE, form=form, found=None)
    async with visit.transaction() as tx:
        found = await cards.holders_found(tx, visit.organization_id, wanted.asked)
        if len(found) != wanted.seen or not found:
            form.errors["asked"] = "There are others by now than when you looked. Look again before you erase."
            return visit.page("settings/erasure.html", status=UNPROCESSABLE, form=form, **_facts(found))
        for holder in found:
            await cards.erase_holder(tx, visit.organization_id, holder.card_id, by=visit.by, at=visit.at)
    return visit.go("settings/erasure", f"Who held {plural(len(found), 'card')} is erased. The cards go on working.")


def _facts(found: list[cards.Holder]) -> dict[str, Any]:
    return {"found": found, "most": cards.MOST_FOUND}
