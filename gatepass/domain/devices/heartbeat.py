"""The heartbeat of a device: how it is, and what we tell it: our time, its assignment, and how to decide offline."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import twin
from gatepass.domain.devices.device import Device
from gatepass.domain.devices.listing import find_device
from gatepass.domain.keys import DeviceAssignment, Mode

# A device may call as often as it likes; its row is written once in so long.
WRITTEN_EVERY: Final = timedelta(seconds=5)
# The columns are integers. A clock that is off by more than 24 days is as wrong as any.
MOST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class EventTimes:
    """What a device needs to know of its event. `offline`: whom it admits without a network."""

    ends_at: datetime
    doors_open_at: datetime | None
    offline: str


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """`event` is None if it was deleted, or if the sandbox that had it was emptied."""

    device: Device
    event: EventTimes | None


async def beat(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    assignment: DeviceAssignment,
    *,
    device_time: datetime,
    queued: int,
    app: str | None,
    at: datetime,
) -> Heartbeat:
    """Store how the device is, and answer what it works for. Its clock is off by its time less ours."""
    offset = round((device_time - at) / timedelta(milliseconds=1))
    offset = max(-MOST, min(MOST, offset))
    await tx.run(STORE, organization_id, assignment.device_id, at, at - WRITTEN_EVERY, queued, offset, app)
    tenant_id = organization_id if mode is Mode.LIVE else twin.twin_id(organization_id)
    return Heartbeat(
        await find_device(tx, organization_id, mode, assignment.device_id),
        await tx.one(EventTimes, EVENT, tenant_id, assignment.event_id),
    )


STORE: Final = """
    UPDATE device
       SET last_seen_at = $3, queued = $5, clock_offset_ms = $6, app = coalesce($7, app)
     WHERE organization_id = $1
       AND id = $2
       AND (last_seen_at IS NULL OR last_seen_at <= $4)
"""

EVENT: Final = """
    SELECT coalesce(ended_at, ends_at) AS ends_at, doors_open_at, offline
      FROM event
     WHERE organization_id = $1
       AND id = $2
"""
