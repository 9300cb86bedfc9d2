"""What somebody made: offered for revocation in the step that removes them, and after a removal or a lower role."""

from collections.abc import Collection
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import belongings
from gatepass.domain.actors import find_actors
from gatepass.domain.belongings import Belonging
from gatepass.domain.staff import Permission, team
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context

router = APIRouter(prefix="/team")

Writer = Annotated[Context, may(Permission.TEAM_WRITE)]
ConfirmedWriter = Annotated[Context, may(Permission.TEAM_WRITE, confirmed=True)]


@router.get("/{person_id}/made")
async def listed(person_id: UUID, context: Writer) -> Response:
    async with context.db.autocommit() as tx:
        found = await belongings.made_by(tx, context.organization_id, person_id, at=context.at)
        if not found:
            # Somebody who is not in the team and left nothing is nobody here.
            await team.member(tx, context.organization_id, person_id)
        actors = await find_actors(tx, context.organization_id, [f"person {person_id}"])
    return context.page(
        "team/made.html", belongings=found, person_id=person_id, name=actors[f"person {person_id}"].name
    )


@router.post("/{person_id}/made")
async def revoke(person_id: UUID, context: ConfirmedWriter) -> Response:
    chosen = (await context.form()).values("made")
    async with context.transaction() as tx:
        if not await belongings.made_by(tx, context.organization_id, person_id, at=context.at):
            await team.member(tx, context.organization_id, person_id)
        revoked = await revoke_chosen(tx, context, person_id, chosen)
    if not revoked:
        return context.go(f"team/{person_id}/made", "Choose what you want to revoke.")
    return context.go("team", told(revoked))


async def revoke_chosen(tx: Tx, context: Context, person_id: UUID, marks: Collection[str]) -> list[Belonging]:
    """Take out of use what the form names, if this person made it and it still works."""
    if not marks:
        return []
    found = await belongings.made_by(tx, context.organization_id, person_id, at=context.at)
    chosen = [one for one in found if one.mark in set(marks)]
    await belongings.revoke_all(
        tx, context.organization_id, chosen, context.vault, context.studio.settings.cell, by=context.by, at=context.at
    )
    return chosen


def told(revoked: Collection[Belonging]) -> str:
    return f"Revoked: {', '.join(one.name for one in revoked)}. Nothing of it works any more." if revoked else ""
