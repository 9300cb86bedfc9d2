"""GET /devices, GET and PATCH /devices/{id}, retire, revoke: the devices of an organization, for its admin keys."""

from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field

from gatepass.api.auth import State, needs
from gatepass.api.request import decoded
from gatepass.api.schemas import Data, Moment, Page, Wire, next_page, page_size, page_start
from gatepass.api.write import Write, writes
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import devices
from gatepass.domain.devices import Device, DeviceNotFound, DeviceStatus
from gatepass.domain.devices.device import GATE_LENGTH, NAME_LENGTH
from gatepass.domain.keys import Caller, Scope

TAG: Final = "Devices"
router = APIRouter(tags=[TAG])

Id = Annotated[str, Path(description="The device's UUID.")]
AdminWrite = Annotated[Write, writes(Scope.ADMIN)]


class DeviceOut(Wire):
    id: UUID
    name: str
    event_id: UUID
    gate: str
    status: DeviceStatus
    paired_at: Moment
    paired_by: str
    last_seen_at: Moment | None
    queued: int | None = Field(description="Scans in its journal that it had not sent yet.")
    clock_offset_ms: int | None
    app: str | None

    @classmethod
    def of(cls, device: Device) -> "DeviceOut":
        return cls(
            id=device.id,
            name=device.name,
            event_id=device.event_id,
            gate=device.gate,
            status=device.status,
            paired_at=device.paired_at,
            paired_by=device.paired_by,
            last_seen_at=device.last_seen_at,
            queued=device.queued,
            clock_offset_ms=device.clock_offset_ms,
            app=device.app,
        )


class DeviceChange(msgspec.Struct, frozen=True):
    """Fields that are absent stay as they are."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=NAME_LENGTH)] | None = None
    event_id: str | None = None
    gate: Annotated[str, msgspec.Meta(min_length=1, max_length=GATE_LENGTH)] | None = None


@router.get("/devices")
async def list_devices(
    caller: Annotated[Caller, needs(Scope.ADMIN)],
    state: State,
    response: Response,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
    event_id: Annotated[str | None, Query(description="Only devices that work for this event.")] = None,
    status: Annotated[str | None, Query(description="Only devices with this status.")] = None,
) -> Page[DeviceOut]:
    """The devices of the key's organization and mode, the last paired first."""
    event, wanted = _event(event_id), _status(status)
    async with state.db.autocommit() as tx:
        found, place = await devices.devices_of(
            tx, caller.organization_id, caller.mode, event_id=event, status=wanted, after=after, limit=limit
        )
    filters = {"event_id": event_id, "status": status}
    cursor = next_page(response, f"{state.settings.base_url}/devices", limit, place, **filters)
    return Page(data=[DeviceOut.of(one) for one in found], has_more=place is not None, next_cursor=cursor)


@router.get("/devices/{id}")
async def device(caller: Annotated[Caller, needs(Scope.ADMIN)], state: State, id: Id) -> Data[DeviceOut]:
    """One device."""
    async with state.db.autocommit() as tx:
        found = await devices.find_device(tx, caller.organization_id, caller.mode, read_device_id(id))
    return Data(data=DeviceOut.of(found))


@router.patch("/devices/{id}")
async def change_device(write: AdminWrite, id: Id) -> Data[DeviceOut]:
    """Change the given fields: rename the device, or move it to another event or gate."""
    device_id, body = read_device_id(id), decoded(await write.request.body(), CHANGE)
    event = _event(body.event_id)
    async with write.transaction(200) as tx:
        changed = await devices.change(
            tx,
            write.caller.organization_id,
            write.caller.mode,
            device_id,
            name=body.name,
            event_id=event,
            gate=body.gate,
            by=write.by,
            at=write.at,
        )
    return Data(data=DeviceOut.of(changed))


@router.post("/devices/{id}/retire")
async def retire_device(write: AdminWrite, id: Id) -> Data[DeviceOut]:
    """Leave it the upload of its journal, and nothing else."""
    device_id, caller = read_device_id(id), write.caller
    async with write.transaction(200) as tx:
        ended = await devices.retire(tx, caller.organization_id, caller.mode, device_id, by=write.by, at=write.at)
    return Data(data=DeviceOut.of(ended))


@router.post("/devices/{id}/revoke")
async def revoke_device(write: AdminWrite, id: Id) -> Data[DeviceOut]:
    """Refuse it everywhere, from its next request on."""
    device_id, caller = read_device_id(id), write.caller
    async with write.transaction(200) as tx:
        ended = await devices.revoke(tx, caller.organization_id, caller.mode, device_id, by=write.by, at=write.at)
    return Data(data=DeviceOut.of(ended))


def read_device_id(text: str) -> UUID:
    device_id = strict_uuid(text)
    if device_id is None:
        raise DeviceNotFound
    return device_id


def _event(text: str | None) -> UUID | None:
    event_id = None if text is None else strict_uuid(text)
    if text is not None and event_id is None:
        raise InvalidRequest("event_id is not a UUID.", param="event_id")
    return event_id


def _status(text: str | None) -> DeviceStatus | None:
    if text is not None and text not in set(DeviceStatus):
        raise InvalidRequest(f"status is one of {', '.join(DeviceStatus)}.", param="status")
    return None if text is None else DeviceStatus(text)


CHANGE: Final = msgspec.json.Decoder(DeviceChange)
