"""Registering a device, and giving it its key.

Pairing does both in two steps: a lead confirms, then the device fetches its key with a signature. `pair_now` does both
at once, for tests and tools that have no screen to confirm on.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import events, keys, security_log, twin
from gatepass.domain.devices.assignment import assign
from gatepass.domain.devices.device import (
    SUBJECT,
    Device,
    DeviceStatus,
    require_public_key,
    required_gate,
    required_name,
)
from gatepass.domain.devices.listing import find_device
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.staff import MAY, NotPermitted, Permission, Role, role_now

OPEN: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED})


async def pair_now(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    name: str,
    public_key: bytes,
    event_id: UUID,
    gate: str,
    *,
    cell: str,
    by: str,
    at: datetime,
    app: str | None = None,
) -> tuple[Device, str]:
    """Register a device and make its key; the device, and the key's text."""
    device = await register(tx, organization_id, mode, name, public_key, event_id, gate, by=by, at=at, app=app)
    return device, await issue_key(tx, device, cell=cell, by=by, at=at)


async def register(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    name: str,
    public_key: bytes,
    event_id: UUID,
    gate: str,
    *,
    by: str,
    at: datetime,
    app: str | None = None,
) -> Device:
    """Take a device in. One whose public key is known continues as the same device, whatever became of it.

    After a revocation nobody knows who held it: what its journal says of the time before opens incidents only.
    """
    name, gate = required_name(name), required_gate(gate)
    require_public_key(public_key)
    await require_permission(tx, organization_id, by=by)
    await require_open_event(tx, organization_id, mode, event_id)
    device_id = await tx.value(REGISTER, organization_id, new_id(), mode, name, public_key, at, by, app)
    await keys.revoke_device_keys(tx, organization_id, device_id, by=by, at=at)
    await assign(tx, organization_id, device_id, event_id, gate, by=by, at=at)
    device = await find_device(tx, organization_id, mode, device_id)
    becomes = f"{name}, gate {gate}, event {event_id}"
    await security_log.record(tx, [organization_id], SUBJECT, device_id, "paired", by=by, at=at, becomes=becomes)
    return device


async def issue_key(tx: Tx, device: Device, *, cell: str, by: str, at: datetime) -> str:
    """A new key of this device, which replaces the one before. It is shown this once."""
    if device.status is not DeviceStatus.PAIRED:
        raise NotAllowedFromHere(f"A device that is {device.status} gets no key.")
    key = await keys.issue_device_key(
        tx, device.organization_id, device.mode, device.assignment, device.name, cell=cell, by=by, at=at
    )
    return key.text


async def require_permission(tx: Tx, organization_id: UUID, *, by: str) -> None:
    """If a person does it, their role of this moment counts, whatever the page has seen."""
    role = await role_now(tx, organization_id, Role.OWNER, by=by)
    if Permission.DEVICES not in MAY[role]:
        raise NotPermitted(f"Your role, {role.spoken}, may not {Permission.DEVICES}.")


async def require_open_event(tx: Tx, organization_id: UUID, mode: Mode, event_id: UUID) -> None:
    """The event is held until the transaction ends, so that it is not deleted under the device."""
    tenant_id = organization_id if mode is Mode.LIVE else twin.twin_id(organization_id)
    event = await events.lock(tx, tenant_id, event_id)
    if event.status not in OPEN:
        raise NotAllowedFromHere(f"An event that is {event.status} takes no devices.")


REGISTER: Final = """
    INSERT INTO device AS d (organization_id, id, mode, name, public_key, status, paired_at, paired_by, app)
    VALUES ($1, $2, $3, $4, $5, 'paired', $6, $7, $8)
    ON CONFLICT (organization_id, mode, public_key) DO UPDATE
       SET name = excluded.name,
           status = 'paired',
           paired_at = excluded.paired_at,
           paired_by = excluded.paired_by,
           ended_at = NULL,
           ended_by = NULL,
           app = coalesce(excluded.app, d.app),
           distrusted_until = CASE WHEN d.status = 'revoked' THEN excluded.paired_at ELSE d.distrusted_until END
    RETURNING id
"""
