"""The end of an API key: rolling it, so that another takes its place, and revoking it. Both ask first."""

from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import keys
from gatepass.studio.form import Form
from gatepass.studio.key_form import EXPIRIES, OVERLAPS, Rolling, default_expiry
from gatepass.studio.keys import Changing, Making, as_last_used, show_once, users_of
from gatepass.studio.visit import UNPROCESSABLE, Visit

router = APIRouter(prefix="/keys")


@router.get("/{key_id}/roll")
async def ask_to_roll(visit: Making, key_id: UUID) -> Response:
    form = Form.of(overlap="24h", expiry=default_expiry(visit.mode))
    return await _question(visit, key_id, "keys/roll.html", form)


@router.post("/{key_id}/roll")
async def roll(visit: Making, key_id: UUID) -> Response:
    form = await visit.form()
    wanted = form.read(Rolling)
    if wanted is None:
        return await _question(visit, key_id, "keys/roll.html", form)
    async with visit.transaction() as tx:
        issued = await keys.roll(
            tx,
            visit.organization_id,
            visit.mode,
            key_id,
            overlap=wanted.overlap,
            expires_at=wanted.expiry.after(visit.at),
            cell=visit.studio.settings.cell,
            by=visit.by,
            at=visit.at,
        )
    return show_once(visit, issued)


@router.get("/{key_id}/revoke")
async def ask_to_revoke(visit: Changing, key_id: UUID) -> Response:
    return await _question(visit, key_id, "keys/revoke.html", Form.of())


@router.post("/{key_id}/revoke")
async def revoke(visit: Changing, key_id: UUID) -> Response:
    async with visit.transaction() as tx:
        key = await keys.find_key(tx, visit.organization_id, visit.mode, key_id)
        await keys.revoke(tx, visit.organization_id, key.id, by=visit.by, at=visit.at)
    return visit.go(f"keys/{key_id}", f"{key.name} is revoked. The next call with it is refused.")


async def _question(visit: Visit, key_id: UUID, template: str, form: Form) -> Response:
    """A page that asks before a key ends, and says who would notice."""
    async with visit.db.reading() as tx:
        key = await keys.find_key(tx, visit.organization_id, visit.mode, key_id)
        users = await users_of(tx, visit, key)
    if not key.is_usable(visit.at):
        raise NotAllowedFromHere("This key has ended already.")
    facts = {"key": as_last_used(key, users), "users": users, "overlaps": OVERLAPS, "expiries": EXPIRIES}
    return visit.page(template, status=UNPROCESSABLE if form.errors else 200, form=form, **facts)
