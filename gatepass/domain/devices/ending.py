"""Ending a device: retired, it still uploads its journal; revoked, it is refused everywhere at once."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import keys, security_log
from gatepass.domain.devices.assignment import end_assignment
from gatepass.domain.devices.device import SUBJECT, Device, DeviceStatus
from gatepass.domain.devices.listing import find_device, lock_device
from gatepass.domain.devices.registration import require_permission
from gatepass.domain.keys import Mode


async def retire(tx: Tx, organization_id: UUID, mode: Mode, device_id: UUID, *, by: str, at: datetime) -> Device:
    """End the work of a device. Retiring it again changes nothing."""
    await require_permission(tx, organization_id, by=by)
    device = await lock_device(tx, organization_id, mode, device_id)
    if device.status is DeviceStatus.REVOKED:
        raise NotAllowedFromHere("A device that is revoked cannot be retired.")
    if device.status is DeviceStatus.RETIRED:
        return device
    await keys.retire_device_keys(tx, organization_id, device_id, at=at)
    return await _end(tx, device, DeviceStatus.RETIRED, by=by, at=at)


async def revoke(tx: Tx, organization_id: UUID, mode: Mode, device_id: UUID, *, by: str, at: datetime) -> Device:
    """Refuse a device that is lost or stolen, from its very next request on. Revoking it again changes nothing."""
    await require_permission(tx, organization_id, by=by)
    device = await lock_device(tx, organization_id, mode, device_id)
    if device.status is DeviceStatus.REVOKED:
        return device
    await keys.revoke_device_keys(tx, organization_id, device_id, by=by, at=at)
    return await _end(tx, device, DeviceStatus.REVOKED, by=by, at=at)


async def _end(tx: Tx, device: Device, status: DeviceStatus, *, by: str, at: datetime) -> Device:
    await end_assignment(tx, device.organization_id, device.id, at=at)
    await tx.run(END, device.organization_id, device.id, status, at, by)
    await security_log.record(
        tx, [device.organization_id], SUBJECT, device.id, status, by=by, at=at, was=device.status, becomes=status
    )
    return await find_device(tx, device.organization_id, device.mode, device.id)


END: Final = """
    UPDATE device
       SET status = $3, ended_at = $4, ended_by = $5
     WHERE organization_id = $1
       AND id = $2
"""
