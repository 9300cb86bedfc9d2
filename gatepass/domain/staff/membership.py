"""A person's place in an organization."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import changes
from gatepass.domain.staff.role import Role


@dataclass(frozen=True, slots=True)
class Workplace:
    """An organization that somebody works for."""

    organization_id: UUID
    name: str
    role: Role


async def join(tx: Tx, organization_id: UUID, person_id: UUID, role: Role, *, by: str, at: datetime) -> None:
    """Give a person a place. Who has one already keeps it as it is."""
    if await tx.run(JOIN, organization_id, person_id, role, at):
        await changes.note(tx, organization_id, "member", person_id, "joined", by=by, at=at, becomes=role)


async def workplaces(tx: Tx, person_id: UUID) -> list[Workplace]:
    """Every organization that the person works for, by name."""
    return await tx.all(Workplace, WORKPLACES, person_id)


JOIN: Final = """
    INSERT INTO member (organization_id, person_id, role, joined_at)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization_id, person_id) DO NOTHING
"""

WORKPLACES: Final = """
    -- every organization: a person may work for several, and asks which
    SELECT m.organization_id, o.name, m.role
      FROM member m
      JOIN organization o ON o.id = m.organization_id
     WHERE m.person_id = $1
     ORDER BY lower(o.name), m.organization_id
"""
