"""The event and the gate that a device works for, now and before. Its journal may be of any of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx

# More than a device is moved. The newest are shown.
MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Assignment:
    """Without `until` it is the present one."""

    event_id: UUID
    gate: str
    since: datetime
    until: datetime | None


async def assignments_of(tx: Tx, organization_id: UUID, device_id: UUID) -> list[Assignment]:
    """What a device worked for, the last first."""
    return await tx.all(Assignment, OF_DEVICE, organization_id, device_id, MOST)


async def gates_of(tx: Tx, organization_id: UUID, event_id: UUID) -> list[str]:
    """The gates at which devices work for this event, or have worked."""
    return [row["gate"] for row in await tx.rows(GATES, organization_id, event_id, MOST)]


async def assign(
    tx: Tx, organization_id: UUID, device_id: UUID, event_id: UUID, gate: str, *, by: str, at: datetime
) -> None:
    """Begin an assignment, and end the one before."""
    await end_assignment(tx, organization_id, device_id, at=at)
    await tx.run(BEGIN, organization_id, device_id, at, event_id, gate, by)


async def end_assignment(tx: Tx, organization_id: UUID, device_id: UUID, *, at: datetime) -> None:
    await tx.run(END, organization_id, device_id, at)


OF_DEVICE: Final = """
    SELECT event_id, gate, since, until
      FROM device_assignment
     WHERE organization_id = $1
       AND device_id = $2
     ORDER BY since DESC
     LIMIT $3
"""

GATES: Final = """
    SELECT DISTINCT gate
      FROM device_assignment
     WHERE organization_id = $1
       AND event_id = $2
     ORDER BY gate
     LIMIT $3
"""

# A device that is moved twice in one microsecond has worked for the last of them only.
BEGIN: Final = """
    INSERT INTO device_assignment (organization_id, device_id, since, event_id, gate, assigned_by)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (organization_id, device_id, since) DO UPDATE
       SET event_id = excluded.event_id, gate = excluded.gate, assigned_by = excluded.assigned_by, until = NULL
"""

END: Final = """
    UPDATE device_assignment
       SET until = greatest($3, since)
     WHERE organization_id = $1
       AND device_id = $2
       AND until IS NULL
"""
