"""Organizations: the tenants. Everything else belongs to one of them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.base.wire_constants import CARD_PREFIX
from gatepass.domain import audit_log

SUBJECT: Final = "organization"


class OrganizationSuspended(Refusal):
    """This organization is suspended. Ask the operator of this service."""

    code = "organization_suspended"


@dataclass(frozen=True, slots=True)
class Organization:
    id: UUID
    name: str
    card_prefix: str
    time_zone: str


async def create(
    tx: Tx, name: str, *, at: datetime, card_prefix: str = CARD_PREFIX, time_zone: str = "UTC", demo: bool = False
) -> Organization:
    """Create an organization, as an operator does."""
    organization = Organization(new_id(), name, card_prefix, time_zone)
    await tx.run(CREATE, organization.id, name, card_prefix, demo, at, time_zone)
    return organization


async def find(tx: Tx, organization_id: UUID) -> Organization | None:
    return await tx.one(Organization, FIND, organization_id)


async def named(tx: Tx, name_or_id: str) -> list[Organization]:
    """The organizations that an operator means: by id, or by name, which several may have."""
    return await tx.all(Organization, NAMED, name_or_id)


async def require_not_suspended(tx: Tx, organization_id: UUID) -> None:
    """Refuse in a suspended organization. It stays as it is until this transaction ends."""
    if await tx.value(SUSPENDED_AT, organization_id) is not None:
        raise OrganizationSuspended


async def rename(tx: Tx, organization_id: UUID, name: str, *, by: str, at: datetime) -> None:
    was = await tx.value(LOCK_NAME, organization_id)
    if was != name and await tx.run(RENAME, organization_id, name):
        await audit_log.record(
            tx, organization_id, SUBJECT, organization_id, "renamed", by=by, at=at, was=was, becomes=name
        )


async def choose_card_prefix(tx: Tx, organization_id: UUID, prefix: str, *, by: str, at: datetime) -> None:
    """New card numbers begin with this. Cards that were issued before keep their numbers and stay valid."""
    was = await tx.value(LOCK_PREFIX, organization_id)
    if was != prefix and await tx.run(CHOOSE_PREFIX, organization_id, prefix):
        await audit_log.record(
            tx, organization_id, SUBJECT, organization_id, "card prefix chosen", by=by, at=at, was=was, becomes=prefix
        )


async def choose_time_zone(tx: Tx, organization_id: UUID, zone: str, *, by: str, at: datetime) -> None:
    """The studio shows times in this zone, an IANA name; those of an event in the event's own."""
    was = await tx.value(LOCK_ZONE, organization_id)
    if was != zone and await tx.run(CHOOSE_ZONE, organization_id, zone):
        await audit_log.record(
            tx, organization_id, SUBJECT, organization_id, "time zone chosen", by=by, at=at, was=was, becomes=zone
        )


CREATE: Final = """
    INSERT INTO organization (id, name, card_prefix, demo, created_at, time_zone)
    VALUES ($1, $2, $3, $4, $5, $6)
"""

FIND: Final = """
    SELECT id, name, card_prefix, time_zone
      FROM organization
     WHERE id = $1
"""

NAMED: Final = """
    SELECT id, name, card_prefix, time_zone
      FROM organization
     WHERE (name = $1 OR id::text = lower($1))
       AND twin_of IS NULL
     ORDER BY id
     LIMIT 10
"""

# Suspending waits for this lock, so that it finds the key or the endpoint that is made meanwhile.
SUSPENDED_AT: Final = "SELECT suspended_at FROM organization WHERE id = $1 FOR SHARE"

# Rows that only refer to the organization do not wait for these locks.
LOCK_NAME: Final = "SELECT name FROM organization WHERE id = $1 FOR NO KEY UPDATE"

RENAME: Final = """
    UPDATE organization
       SET name = $2
     WHERE id = $1
"""

LOCK_PREFIX: Final = "SELECT card_prefix FROM organization WHERE id = $1 FOR NO KEY UPDATE"

CHOOSE_PREFIX: Final = """
    UPDATE organization
       SET card_prefix = $2
     WHERE id = $1
"""

LOCK_ZONE: Final = "SELECT time_zone FROM organization WHERE id = $1 FOR NO KEY UPDATE"

CHOOSE_ZONE: Final = """
    UPDATE organization
       SET time_zone = $2
     WHERE id = $1
"""
