"""Devices: the list, and the page of one, where it is moved, retired and revoked."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import strict_uuid
from gatepass.domain import audit_log, devices
from gatepass.domain.actors import find_actors
from gatepass.domain.audit_log import SubjectEntry
from gatepass.domain.devices import DeviceStatus, assignments_of, pairing
from gatepass.domain.staff import Permission
from gatepass.studio.devices.events import choices, titles
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, ShortLine
from gatepass.studio.web.paging import PAGE, place_in, rest_of

router = APIRouter(prefix="/devices")

Lead = Annotated[Context, may(Permission.DEVICES)]

SHOWN: Final = (
    (DeviceStatus.PAIRED, "Paired"),
    (DeviceStatus.RETIRED, "Retired"),
    (DeviceStatus.REVOKED, "Revoked"),
    ("all", "All"),
)
# Devices send a heartbeat each 20 seconds or so. One that is silent for this long has no network, or is off.
SILENT: Final = timedelta(minutes=2)
# A clock that is off by more makes the times of offline scans wrong, although we correct them.
CLOCK_OFF_MS: Final = 30_000


class DeviceForm(BaseModel):
    name: ShortLine
    event_id: UUID
    gate: ShortLine


@router.get("")
async def listed(context: Lead) -> Response:
    query = context.request.query_params
    named = query.get("show", DeviceStatus.PAIRED)
    shown = DeviceStatus(named) if named in set(DeviceStatus) else None
    event_id = strict_uuid(query.get("event_id", ""))
    async with context.db.autocommit() as tx:
        found, place = await devices.devices_of(
            tx,
            context.organization_id,
            context.mode,
            event_id=event_id,
            status=shown,
            after=place_in(context),
            limit=PAGE,
        )
        codes = await pairing.open_codes(tx, context.organization_id, context.mode, at=context.at)
        wanted = {*(one.event_id for one in found), *(code.event_id for code in codes)}
        names = await titles(tx, context, wanted | ({event_id} if event_id else set()))
    return context.page(
        "devices/list.html",
        devices=found,
        codes=codes,
        titles=names,
        event_id=event_id,
        shown=shown or "all",
        choices=SHOWN,
        newest_first=True,
        **_health(context),
        **rest_of(context, "devices", place),
    )


@router.get("/{device_id}")
async def one(context: Lead, device_id: UUID) -> Response:
    return await _page_of(context, device_id)


@router.post("/{device_id}/change")
async def change(context: Lead, device_id: UUID) -> Response:
    """Rename it, or move it to another event or gate."""
    form = await context.form()
    wanted = form.read(DeviceForm)
    if wanted is None:
        return await _page_of(context, device_id, form)
    try:
        async with context.transaction() as tx:
            changed = await devices.change(
                tx,
                context.organization_id,
                context.mode,
                device_id,
                name=wanted.name,
                event_id=wanted.event_id,
                gate=wanted.gate,
                by=context.by,
                at=context.at,
            )
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return await _page_of(context, device_id, form)
    return context.go(f"devices/{device_id}", f"{changed.name} works at {changed.gate} from its next scan on.")


@router.post("/{device_id}/retire")
async def retire(context: Lead, device_id: UUID) -> Response:
    async with context.transaction() as tx:
        ended = await devices.retire(tx, context.organization_id, context.mode, device_id, by=context.by, at=context.at)
    return context.go(f"devices/{device_id}", f"{ended.name} is retired. It may still upload its scans, for 72 hours.")


@router.get("/{device_id}/revoke")
async def ask_to_revoke(context: Lead, device_id: UUID) -> Response:
    async with context.db.autocommit() as tx:
        device = await devices.find_device(tx, context.organization_id, context.mode, device_id)
    if device.status is DeviceStatus.REVOKED:
        raise NotAllowedFromHere("This device is revoked already.")
    return context.page("devices/revoke.html", device=device)


@router.post("/{device_id}/revoke")
async def revoke(context: Lead, device_id: UUID) -> Response:
    async with context.transaction() as tx:
        ended = await devices.revoke(tx, context.organization_id, context.mode, device_id, by=context.by, at=context.at)
    return context.go(f"devices/{device_id}", f"{ended.name} is revoked. Its next request is refused.")


async def _page_of(context: Context, device_id: UUID, form: Form | None = None) -> Response:
    async with context.db.autocommit() as tx:
        device = await devices.find_device(tx, context.organization_id, context.mode, device_id)
        assignments = await assignments_of(tx, context.organization_id, device_id)
        history = await audit_log.of_subject(tx, context.organization_id, device_id)
        names = await titles(tx, context, {one.event_id for one in assignments})
        offered = await choices(tx, context)
        mentioned = [device.paired_by, device.ended_by, *(change.actor for change in history)]
        actors = await find_actors(tx, context.organization_id, mentioned)
    if device.event_id not in dict(offered):
        offered = [(device.event_id, names.get(device.event_id, "an event that was deleted")), *offered]
    status = 200 if form is None else UNPROCESSABLE
    form = form or Form.of(name=device.name, event_id=device.event_id, gate=device.gate)
    return context.page(
        "devices/one.html",
        status=status,
        form=form,
        device=device,
        assignments=assignments,
        history=[_with_titles(change, names) for change in history],
        titles=names,
        events=offered,
        actors=actors,
        **_health(context),
    )


def _with_titles(change: SubjectEntry, names: Mapping[UUID, str]) -> SubjectEntry:
    """The change with the titles of events in place of their ids."""

    def titled(text: str | None) -> str | None:
        for event_id, title in names.items():
            text = text and text.replace(f"event {event_id}", title)
        return text

    return replace(change, was=titled(change.was), becomes=titled(change.becomes))


def _health(context: Context) -> dict[str, Any]:
    return {"silent_since": context.at - SILENT, "clock_off_ms": CLOCK_OFF_MS}
