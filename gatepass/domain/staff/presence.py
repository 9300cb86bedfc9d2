"""Whether somebody who looks at something for hours is still allowed to."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.staff.role import Role
from gatepass.domain.staff.sessions import IDLE


async def still_here(tx: Tx, organization_id: UUID, session_id: UUID, *, at: datetime) -> Role | None:
    """The role of whoever this session is, if it is open and at work in this organization.

    Asking is not being seen: a laptop that was left alone with a door on its screen still falls asleep.
    """
    role = await tx.value(STILL_HERE, organization_id, session_id, at, at - IDLE)
    return Role(role) if role else None


STILL_HERE: Final = """
    SELECT m.role
      FROM studio_session s
      JOIN member m ON m.organization_id = s.chosen_organization_id AND m.person_id = s.person_id
     WHERE m.organization_id = $1
       AND s.id = $2
       AND s.ended_at IS NULL
       AND s.expires_at > $3
       AND s.seen_at > $4
"""
