"""The team of an organization: who is in it, and changing that. An organization always has an owner."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import Place
from gatepass.base.refusals import Refusal
from gatepass.domain import changes
from gatepass.domain.staff.role import RANK, NotPermitted, Role


class MemberNotFound(Refusal):
    """This person is not in the team."""

    code = "member_not_found"


class LastOwner(Refusal):
    """An organization needs an owner. Make somebody else an owner first."""

    code = "last_owner"


@dataclass(frozen=True, slots=True)
class Member:
    """`seen_at` is when somebody last worked here. The last three say how they sign in: who should do better shows."""

    person_id: UUID
    name: str
    email: str
    role: Role
    joined_at: datetime
    seen_at: datetime | None
    passkeys: bool
    password: bool
    codes: bool


async def members(tx: Tx, organization_id: UUID, *, after: Place, limit: int) -> list[Member]:
    """A page of the team, in the order of joining."""
    return await tx.all(Member, MEMBERS, organization_id, after.at, after.id, limit)


async def member(tx: Tx, organization_id: UUID, person_id: UUID) -> Member:
    found = await tx.one(Member, MEMBER, organization_id, person_id)
    if found is None:
        raise MemberNotFound
    return found


async def change_role(
    tx: Tx, organization_id: UUID, person_id: UUID, role: Role, *, giver: Role, by: str, at: datetime
) -> None:
    """Give somebody another role. Nobody gives or takes one above their own."""
    owners = await _locked_owners(tx, organization_id)
    was = await _held(tx, organization_id, person_id, giver)
    if RANK[role] > RANK[giver]:
        raise NotPermitted("Nobody gives a role above their own.", param="role")
    if was is role:
        return
    if was is Role.OWNER and owners <= {person_id}:
        raise LastOwner
    await tx.run(CHANGE_ROLE, organization_id, person_id, role)
    await changes.note(tx, organization_id, "member", person_id, "role_changed", by=by, at=at, was=was, becomes=role)


async def remove_member(tx: Tx, organization_id: UUID, person_id: UUID, *, giver: Role, by: str, at: datetime) -> None:
    """End somebody's place here, with their very next click. They stay a person, and may work elsewhere."""
    owners = await _locked_owners(tx, organization_id)
    was = await _held(tx, organization_id, person_id, giver)
    if was is Role.OWNER and owners <= {person_id}:
        raise LastOwner
    await tx.run(REMOVE, organization_id, person_id)
    await changes.note(tx, organization_id, "member", person_id, "removed", by=by, at=at, was=was)


async def _locked_owners(tx: Tx, organization_id: UUID) -> set[UUID]:
    """The owners, locked before anybody else is: of two who step down at once, the second one finds only themselves."""
    return {row["person_id"] for row in await tx.rows(OWNERS, organization_id)}


async def _held(tx: Tx, organization_id: UUID, person_id: UUID, giver: Role) -> Role:
    held = await tx.value(HELD, organization_id, person_id)
    if held is None:
        raise MemberNotFound
    role = Role(held)
    if RANK[role] > RANK[giver]:
        raise NotPermitted("Nobody changes somebody whose role is above their own.", param="role")
    return role


# Not EXISTS: PostgreSQL would hash all the passwords there are, to look up a page of them.
MEMBERS: Final = """
    SELECT m.person_id, p.name, p.email, m.role, m.joined_at,
           (SELECT s.seen_at FROM studio_session s
             WHERE s.person_id = m.person_id AND s.chosen_organization_id = $1
             ORDER BY s.began_at DESC LIMIT 1) AS seen_at,
           (SELECT true FROM passkey k WHERE k.person_id = m.person_id LIMIT 1) IS NOT NULL AS passkeys,
           (SELECT true FROM password w WHERE w.person_id = m.person_id) IS NOT NULL AS password,
           (SELECT c.confirmed_at FROM one_time_code c WHERE c.person_id = m.person_id) IS NOT NULL AS codes
      FROM member m
      JOIN person p ON p.id = m.person_id
     WHERE m.organization_id = $1
       AND (m.joined_at, m.person_id) > ($2, $3)
     ORDER BY m.joined_at, m.person_id
     LIMIT $4
"""

MEMBER: Final = """
    SELECT m.person_id, p.name, p.email, m.role, m.joined_at,
           (SELECT s.seen_at FROM studio_session s
             WHERE s.person_id = m.person_id AND s.chosen_organization_id = $1
             ORDER BY s.began_at DESC LIMIT 1) AS seen_at,
           (SELECT true FROM passkey k WHERE k.person_id = m.person_id LIMIT 1) IS NOT NULL AS passkeys,
           (SELECT true FROM password w WHERE w.person_id = m.person_id) IS NOT NULL AS password,
           (SELECT c.confirmed_at FROM one_time_code c WHERE c.person_id = m.person_id) IS NOT NULL AS codes
      FROM member m
      JOIN person p ON p.id = m.person_id
     WHERE m.organization_id = $1
       AND m.person_id = $2
"""

HELD: Final = """
    SELECT role
      FROM member
     WHERE organization_id = $1
       AND person_id = $2
       FOR UPDATE
"""

OWNERS: Final = """
    SELECT person_id
      FROM member
     WHERE organization_id = $1
       AND role = 'owner'
     ORDER BY person_id
       FOR UPDATE
"""

CHANGE_ROLE: Final = """
    UPDATE member
       SET role = $3
     WHERE organization_id = $1
       AND person_id = $2
"""

REMOVE: Final = """
    DELETE FROM member
     WHERE organization_id = $1
       AND person_id = $2
"""
