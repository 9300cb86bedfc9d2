"""Devices as their organization sees them: everything but their keys."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import END, Place
from gatepass.domain.devices.device import Device, DeviceNotFound, DeviceStatus
from gatepass.domain.keys import Mode

# A page with a filter reads at most this many devices, however few of them match.
LOOKED_THROUGH: Final = 5_000


async def find_device(tx: Tx, organization_id: UUID, mode: Mode, device_id: UUID) -> Device:
    found = await tx.one(Device, FIND, organization_id, mode, device_id)
    if found is None:
        raise DeviceNotFound
    return found


async def lock_device(tx: Tx, organization_id: UUID, mode: Mode, device_id: UUID) -> Device:
    """The device, locked against changes until this transaction ends. Its scans do not wait."""
    found = await tx.one(Device, LOCK, organization_id, mode, device_id)
    if found is None:
        raise DeviceNotFound
    return found


async def devices_of(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    *,
    event_id: UUID | None = None,
    status: DeviceStatus | None = None,
    after: Place | None = None,
    limit: int,
) -> tuple[list[Device], Place | None]:
    """Devices, the last paired first, and where the next page begins. With a filter a page may be short."""
    place = after or END
    found = await tx.all(
        Device, PAGE, organization_id, mode, place.at, place.id, LOOKED_THROUGH, event_id, status, limit + 1
    )
    if len(found) > limit:
        return found[:limit], Place(found[limit - 1].paired_at, found[limit - 1].id)
    if event_id is None and status is None:
        return found, None
    return found, await tx.one(Place, LAST_LOOKED_AT, organization_id, mode, place.at, place.id, LOOKED_THROUGH - 1)


async def seen_since(tx: Tx, organization_id: UUID, mode: Mode, event_id: UUID, *, since: datetime) -> tuple[int, int]:
    """How many devices work for this event, and how many of them were heard of since then."""
    (row,) = await tx.rows(SEEN, organization_id, mode, event_id, since)
    return row["paired"], row["seen"]


# The statements are joined of these constants, never of values. A device has at least one assignment; its last one is
# the present one, or that with which it ended.
COLUMNS: Final = """
    SELECT d.organization_id, d.id, d.mode, d.name, d.public_key, d.status, a.event_id, a.gate, d.paired_at,
           d.paired_by, d.ended_at, d.ended_by, d.last_seen_at, d.queued, d.clock_offset_ms, d.app
      FROM device d
     CROSS JOIN LATERAL (SELECT x.event_id, x.gate
                           FROM device_assignment x
                          WHERE x.organization_id = $1
                            AND x.organization_id = d.organization_id
                            AND x.device_id = d.id
                          ORDER BY x.since DESC
                          LIMIT 1) a
     WHERE d.organization_id = $1
"""

FIND: Final = (
    COLUMNS
    + """
       AND d.mode = $2
       AND d.id = $3
"""
)

LOCK: Final = FIND + " FOR NO KEY UPDATE OF d"

PAGE: Final = (
    COLUMNS
    + """
       AND d.id IN (SELECT k.id
                      FROM device k
                     WHERE k.organization_id = $1
                       AND k.mode = $2
                       AND (k.paired_at, k.id) < ($3, $4)
                     ORDER BY k.paired_at DESC, k.id DESC
                     LIMIT $5)
       AND ($6::uuid IS NULL OR a.event_id = $6)
       AND ($7::text IS NULL OR d.status = $7)
     ORDER BY d.paired_at DESC, d.id DESC
     LIMIT $8
"""
)

LAST_LOOKED_AT: Final = """
    SELECT d.paired_at AS at, d.id
      FROM device d
     WHERE d.organization_id = $1
       AND d.mode = $2
       AND (d.paired_at, d.id) < ($3, $4)
     ORDER BY d.paired_at DESC, d.id DESC
    OFFSET $5
     LIMIT 1
"""

SEEN: Final = """
    SELECT count(*) AS paired, count(*) FILTER (WHERE d.last_seen_at >= $4) AS seen
      FROM device_assignment a
      JOIN device d ON d.organization_id = a.organization_id AND d.id = a.device_id
     WHERE a.organization_id = $1
       AND a.event_id = $3
       AND a.until IS NULL
       AND d.organization_id = $1
       AND d.mode = $2
       AND d.status = 'paired'
"""
