"""The API keys that somebody made: offered for revocation when that person is removed or gets a lower role."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.domain import keys
from gatepass.domain.actors import find_actors
from gatepass.domain.keys import Key
from gatepass.domain.staff import Permission, team
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context

router = APIRouter(prefix="/team")

Writer = Annotated[Context, may(Permission.TEAM_WRITE)]
ConfirmedWriter = Annotated[Context, may(Permission.TEAM_WRITE, confirmed=True)]


@router.get("/{person_id}/keys")
async def listed(person_id: UUID, context: Writer) -> Response:
    async with context.db.autocommit() as tx:
        found = await _keys_of(tx, context, person_id)
        actors = await find_actors(tx, context.organization_id, [f"person {person_id}"])
    name = actors[f"person {person_id}"].name
    return context.page("team/keys.html", keys=found, person_id=person_id, name=name)


@router.post("/{person_id}/keys")
async def revoke(person_id: UUID, context: ConfirmedWriter) -> Response:
    chosen = set((await context.form()).values("keys"))
    async with context.transaction() as tx:
        found = [key for key in await _keys_of(tx, context, person_id) if str(key.id) in chosen]
        for key in found:
            await keys.revoke(tx, context.organization_id, key.id, by=context.by, at=context.at)
    if not found:
        return context.go(f"team/{person_id}/keys", "Choose the keys that you want to revoke.")
    return context.go("team", f"Revoked: {', '.join(key.name for key in found)}. The next call with one is refused.")


async def _keys_of(tx: Tx, context: Context, person_id: UUID) -> list[Key]:
    """Their keys that still work. Somebody who is not in the team and left no key is nobody here."""
    found = await keys.keys_made_by(tx, context.organization_id, person_id, at=context.at)
    if not found:
        await team.member(tx, context.organization_id, person_id)
    return found
