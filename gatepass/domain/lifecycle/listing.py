"""Organizations as their operator lists them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx

FIRST: Final = UUID(int=0)


class OrganizationState(StrEnum):
    OPEN = "open"
    SUSPENDED = "suspended"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class ListedOrganization:
    id: UUID
    name: str
    created_at: datetime
    suspended_at: datetime | None
    suspended_reason: str | None
    closed_at: datetime | None
    erase_at: datetime | None
    members: int
    keys: int

    @property
    def state(self) -> OrganizationState:
        if self.closed_at is not None:
            return OrganizationState.CLOSED
        return OrganizationState.OPEN if self.suspended_at is None else OrganizationState.SUSPENDED


async def page_of_organizations(tx: Tx, *, after: UUID = FIRST, limit: int) -> list[ListedOrganization]:
    """The organizations of this cell, oldest first, with their people and the keys that are not revoked."""
    return await tx.all(ListedOrganization, PAGE, after, limit)


PAGE: Final = """
    -- every organization: the operator sees all of this cell
    SELECT o.id, o.name, o.created_at, o.suspended_at, o.suspended_reason, o.closed_at, o.erase_at,
           (SELECT count(*) FROM member m WHERE m.organization_id = o.id) AS members,
           (SELECT count(*) FROM api_key k
             WHERE k.organization_id = o.id AND k.device_id IS NULL AND k.revoked_at IS NULL) AS keys
      FROM organization o
     WHERE o.id > $1
       AND o.twin_of IS NULL
     ORDER BY o.id
     LIMIT $2
"""
