"""Rolling an API key (a new key replaces it) and revoking it. Both ask for confirmation first."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import keys
from gatepass.studio.keys.forms import EXPIRIES, OVERLAPS, KeyRollForm, default_expiry
from gatepass.studio.keys.keys import (
    ConfirmedWriter,
    Writer,
    as_last_used,
    redirect_to_new_key,
    users_of,
    withheld_from,
)
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form

router = APIRouter(prefix="/keys")


@router.get("/{key_id}/roll")
async def ask_to_roll(context: ConfirmedWriter, key_id: UUID) -> Response:
    form = Form.of(overlap="24h", expiry=default_expiry(context.mode))
    return await _question(context, key_id, "keys/roll.html", form)


@router.post("/{key_id}/roll")
async def roll(context: ConfirmedWriter, key_id: UUID) -> Response:
    form = await context.form()
    wanted = form.read(KeyRollForm)
    if wanted is None:
        return await _question(context, key_id, "keys/roll.html", form)
    async with context.transaction() as tx:
        issued = await keys.rotate(
            tx,
            context.organization_id,
            context.mode,
            key_id,
            overlap=wanted.overlap,
            expires_at=wanted.expiry.after(context.at),
            cell=context.studio.settings.cell,
            by=context.by,
            at=context.at,
        )
    return redirect_to_new_key(context, issued)


@router.get("/{key_id}/revoke")
async def ask_to_revoke(context: Writer, key_id: UUID) -> Response:
    return await _question(context, key_id, "keys/revoke.html", Form.of())


@router.post("/{key_id}/revoke")
async def revoke(context: Writer, key_id: UUID) -> Response:
    async with context.transaction() as tx:
        key = await keys.find_key(tx, context.organization_id, context.mode, key_id)
        await keys.revoke(tx, context.organization_id, key.id, by=context.by, at=context.at)
    return context.go(f"keys/{key_id}", f"{key.name} is revoked. The next call with it is refused.")


async def _question(context: Context, key_id: UUID, template: str, form: Form) -> Response:
    """The confirmation page: it shows which addresses use the key."""
    async with context.db.autocommit() as tx:
        key = await keys.find_key(tx, context.organization_id, context.mode, key_id)
        users = await users_of(tx, context, key)
    if not key.is_usable(context.at):
        raise NotAllowedFromHere("This key has ended already.")
    facts: dict[str, Any] = {
        "key": as_last_used(key, users),
        "users": users,
        "overlaps": OVERLAPS,
        "expiries": EXPIRIES,
        "withheld": withheld_from(context, key.scopes),
    }
    return context.page(template, status=UNPROCESSABLE if form.errors else 200, form=form, **facts)
