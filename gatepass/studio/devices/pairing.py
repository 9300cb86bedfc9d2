"""Pairing a device: a code and its QR on this screen, the devices that ask with it, and the lead's decision.

The code is shown for as long as it lives, to the person who made it: a sealed cookie of this session has it, and the
database only its hash. Other leads see what asks with it, and may decide too.
"""

from typing import Annotated, Any, Final
from uuid import UUID

import segno
from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest
from gatepass.domain import events
from gatepass.domain.actors import find_actors
from gatepass.domain.devices import pairing
from gatepass.domain.devices.pairing import LIFE, MOST_DEVICES, PairingCode, written_code
from gatepass.domain.staff import Permission
from gatepass.studio.devices.events import choices, titles
from gatepass.studio.web import one_time_secret
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, ShortLine

router = APIRouter(prefix="/devices/pair")

Lead = Annotated[Context, may(Permission.DEVICES)]
# What is paired scans for the organization, so making a code needs re-authentication.
ConfirmedLead = Annotated[Context, may(Permission.DEVICES, confirmed=True)]

# The page of the scanner. The code stands behind the hash, which browsers send to nobody.
SCANNER: Final = "/gate#"


class PairForm(BaseModel):
    event_id: UUID
    gate: ShortLine
    devices: int = Field(default=1, ge=1, le=MOST_DEVICES)


@router.get("")
async def new(context: ConfirmedLead) -> Response:
    event_id = context.request.query_params.get("event_id", "")
    return await _form(context, Form.of(event_id=event_id, devices=1))


@router.post("")
async def make(context: ConfirmedLead) -> Response:
    form = await context.form()
    wanted = form.read(PairForm)
    if wanted is None:
        return await _form(context, form)
    try:
        async with context.transaction() as tx:
            made = await pairing.make_code(
                tx,
                context.organization_id,
                context.mode,
                wanted.event_id,
                wanted.gate,
                devices=wanted.devices,
                cell=context.studio.settings.cell,
                by=context.by,
                at=context.at,
            )
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return await _form(context, form)
    except events.EventNotFound:
        form.errors["event_id"] = "There is no such event any more."
        return await _form(context, form)
    response = context.go(f"devices/pair/{made.id}")
    one_time_secret.store(context, response, made.id, made.text, seconds=int(LIFE.total_seconds()))
    return response


@router.get("/{code_id}")
async def one(context: Lead, code_id: UUID) -> Response:
    """The code, and what asks with it; the page asks for itself again each second."""
    async with context.db.autocommit() as tx:
        code = await pairing.find_code(tx, context.organization_id, context.mode, code_id)
        return context.page("devices/code.html", **await _facts(tx, context, code))


@router.post("/{code_id}/end")
async def end(context: Lead, code_id: UUID) -> Response:
    async with context.transaction() as tx:
        await pairing.end_code(tx, context.organization_id, context.mode, code_id, by=context.by, at=context.at)
    response = context.go("devices", "The code is ended.")
    one_time_secret.clear(response)
    return response


@router.post("/{code_id}/{pairing_request}/confirm")
async def confirm(context: Lead, code_id: UUID, pairing_request: str) -> Response:
    async with context.transaction() as tx:
        device = await pairing.confirm(
            tx, context.organization_id, context.mode, code_id, pairing_request, by=context.by, at=context.at
        )
    return context.go(f"devices/pair/{code_id}", f"{device.name} is paired. It fetches its key in a moment.")


@router.post("/{code_id}/{pairing_request}/refuse")
async def refuse(context: Lead, code_id: UUID, pairing_request: str) -> Response:
    async with context.transaction() as tx:
        await pairing.refuse(
            tx, context.organization_id, context.mode, code_id, pairing_request, by=context.by, at=context.at
        )
    return context.go(f"devices/pair/{code_id}", "The device is turned away.")


async def _form(context: Context, form: Form) -> Response:
    async with context.db.autocommit() as tx:
        offered = await choices(tx, context)
    return context.page("devices/pair.html", status=UNPROCESSABLE if form.errors else 200, form=form, events=offered)


async def _facts(tx: Tx, context: Context, code: PairingCode) -> dict[str, Any]:
    requests = await pairing.requests_of(tx, context.organization_id, code.id)
    names = await titles(tx, context, [code.event_id])
    actors = await find_actors(tx, context.organization_id, [code.made_by])
    text = one_time_secret.read(context, code.id) if code.is_open(context.at) else None
    return {
        "code": code,
        "is_open": code.is_open(context.at),
        "text": written_code(text) if text else None,
        "picture": _picture(context, text) if text else None,
        "requests": requests,
        "title": names.get(code.event_id),
        "actors": actors,
    }


def _picture(context: Context, text: str) -> str:
    made = segno.make(context.studio.settings.public_url + SCANNER + text, error="m", micro=False)
    return made.svg_data_uri(scale=6, border=4, light="#fff", dark="#000")
