"""Memberships: the people of an organization, and the organizations of a person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import strict_uuid
from gatepass.domain import security_log
from gatepass.domain.staff import access, notices
from gatepass.domain.staff.role import RANK, NotPermitted, Role


@dataclass(frozen=True, slots=True)
class Membership:
    """An organization of a person, and their role in it."""

    organization_id: UUID
    name: str
    role: Role


async def join(tx: Tx, organization_id: UUID, person_id: UUID, role: Role, *, by: str, at: datetime) -> None:
    """Make a person a member. A membership that exists stays as it is.

    Somebody who accepts an invitation must be where the organization lets people in.
    """
    if by == f"person {person_id}":
        await access.require_address(tx, organization_id)
    if await tx.run(JOIN, organization_id, person_id, role, at):
        await security_log.record(tx, [organization_id], "member", person_id, "joined", by=by, at=at, becomes=role)


async def memberships(tx: Tx, person_id: UUID) -> list[Membership]:
    """Every organization of the person, ordered by name."""
    return await tx.all(Membership, MEMBERSHIPS, person_id)


async def role_now(tx: Tx, organization_id: UUID, role: Role, *, by: str) -> Role:
    """The role that this actor holds at this moment, and at most `role`. It stays so until the transaction ends.

    The page read the role earlier: somebody who was removed or demoted since then must not finish what they began.
    """
    kind, _, id = by.partition(" ")
    if kind != "person":
        return role
    held = await tx.value(HELD, organization_id, strict_uuid(id))
    if held is None:
        raise NotPermitted("You are no longer in this team.")
    return min(role, Role(held), key=lambda one: RANK[one])


async def note_everywhere(
    tx: Tx,
    person_id: UUID,
    action: str,
    *,
    by: str,
    at: datetime,
    was: str | None = None,
    becomes: str | None = None,
    reason: str | None = None,
    **fields: str | int | None,
) -> None:
    """Write a security event of a person into the audit log of each of their organizations, and into the log.

    The person is told too, if it is about their credentials.
    """
    if action in notices.SENTENCES:
        await notices.tell(tx, person_id, action, at=at, detail=becomes)
    organizations = [one.organization_id for one in await memberships(tx, person_id)]
    await security_log.record(
        tx, organizations, security_log.PERSON, person_id, action, by=by, at=at, was=was, becomes=becomes,
        reason=reason, **fields,
    )  # fmt: skip


JOIN: Final = """
    INSERT INTO member (organization_id, person_id, role, joined_at)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization_id, person_id) DO NOTHING
"""

HELD: Final = """
    SELECT role
      FROM member
     WHERE organization_id = $1
       AND person_id = $2
       FOR SHARE
"""

MEMBERSHIPS: Final = """
    -- every organization: a person may be a member of several
    SELECT m.organization_id, o.name, m.role
      FROM member m
      JOIN organization o ON o.id = m.organization_id
     WHERE m.person_id = $1
     ORDER BY lower(o.name), m.organization_id
"""
