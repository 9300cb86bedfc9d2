"""Organizations: the tenants. Everything else belongs to one of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.wire_name import CARD_PREFIX


@dataclass(frozen=True, slots=True)
class Organization:
    id: UUID
    name: str
    card_prefix: str


async def found(tx: Tx, name: str, *, at: datetime, card_prefix: str = CARD_PREFIX, demo: bool = False) -> Organization:
    """Found an organization, as an operator does."""
    organization = Organization(new_id(), name, card_prefix)
    await tx.run(FOUND, organization.id, name, card_prefix, demo, at)
    return organization


async def find(tx: Tx, organization_id: UUID) -> Organization | None:
    return await tx.one(Organization, FIND, organization_id)


FOUND: Final = """
    INSERT INTO organization (id, name, card_prefix, demo, created_at)
    VALUES ($1, $2, $3, $4, $5)
"""

FIND: Final = """
    SELECT id, name, card_prefix
      FROM organization
     WHERE id = $1
"""
