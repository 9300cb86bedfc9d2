"""Changing a device: its name, and the event and gate that it works for."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log, keys
from gatepass.domain.devices.assignment import assign
from gatepass.domain.devices.device import SUBJECT, Device, DeviceStatus, required_gate, required_name
from gatepass.domain.devices.listing import find_device, lock_device
from gatepass.domain.devices.registration import require_open_event, require_permission
from gatepass.domain.keys import DeviceAssignment, Mode


async def change(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    device_id: UUID,
    *,
    by: str,
    at: datetime,
    name: str | None = None,
    event_id: UUID | None = None,
    gate: str | None = None,
) -> Device:
    """Change what is given. A device that was moved works for its new event and gate with its very next request."""
    await require_permission(tx, organization_id, by=by)
    if event_id is not None:  # before the device's lock: pairing takes the event first too
        await require_open_event(tx, organization_id, mode, event_id)
    device = await lock_device(tx, organization_id, mode, device_id)
    if device.status is not DeviceStatus.PAIRED:
        raise NotAllowedFromHere(f"A device that is {device.status} cannot be changed. Pair it again.")
    if name is not None:
        await _rename(tx, device, required_name(name), by=by, at=at)
    new = DeviceAssignment(device_id, event_id or device.event_id, device.gate if gate is None else required_gate(gate))
    if new != device.assignment:
        await _move(tx, device, new, by=by, at=at)
    return await find_device(tx, organization_id, mode, device_id)


async def _rename(tx: Tx, device: Device, name: str, *, by: str, at: datetime) -> None:
    if name != device.name:
        await tx.run(RENAME, device.organization_id, device.id, name)
        await audit_log.record(
            tx, device.organization_id, SUBJECT, device.id, "renamed", by=by, at=at, was=device.name, becomes=name
        )


async def _move(tx: Tx, device: Device, new: DeviceAssignment, *, by: str, at: datetime) -> None:
    await assign(tx, device.organization_id, device.id, new.event_id, new.gate, by=by, at=at)
    await keys.assign_device_keys(tx, device.organization_id, device.mode, new)
    is_same_event = new.event_id == device.event_id
    was, becomes = (
        f"gate {one.gate}" if is_same_event else f"gate {one.gate}, event {one.event_id}"
        for one in (device.assignment, new)
    )
    await audit_log.record(
        tx, device.organization_id, SUBJECT, device.id, "moved", by=by, at=at, was=was, becomes=becomes
    )


RENAME: Final = """
    UPDATE device
       SET name = $3
     WHERE organization_id = $1
       AND id = $2
"""
