"""The team of an organization: its members and their roles. An organization always has an owner."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.paging import Place
from gatepass.domain import security_log
from gatepass.domain.staff import sessions
from gatepass.domain.staff.invitations import withdraw_those_of
from gatepass.domain.staff.membership import memberships, role_now
from gatepass.domain.staff.role import RANK, NotPermitted, Role
from gatepass.domain.staff.sign_in_links import withdraw_links


class MemberNotFound(Refusal):
    """This person is not in the team."""

    code = "member_not_found"


class LastOwner(Refusal):
    """An organization needs an owner. Make somebody else an owner first."""

    code = "last_owner"


@dataclass(frozen=True, slots=True)
class Member:
    """`seen_at` is their last activity in this organization. The last three fields are their ways to sign in."""

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
    """A page of the team, ordered by when they joined."""
    return await tx.all(Member, MEMBERS, organization_id, after.at, after.id, limit)


async def member(tx: Tx, organization_id: UUID, person_id: UUID) -> Member:
    found = await tx.one(Member, MEMBER, organization_id, person_id)
    if found is None:
        raise MemberNotFound
    return found


async def change_role(
    tx: Tx, organization_id: UUID, person_id: UUID, role: Role, *, giver: Role, by: str, at: datetime
) -> int:
    """Give somebody another role. Nobody gives or takes one above their own.

    The invitations that they made with a role above the new one are withdrawn; how many there were.
    """
    held = await locked_members(tx, organization_id, person_id)
    giver = await role_now(tx, organization_id, giver, by=by)
    was = _changeable(held, person_id, giver)
    if RANK[role] > RANK[giver]:
        raise NotPermitted("Nobody gives a role above their own.", param="role")
    if was is role:
        return 0
    if owners_among(held) == {person_id}:
        raise LastOwner
    await tx.run(CHANGE_ROLE, organization_id, person_id, role)
    await security_log.record(
        tx, [organization_id], "member", person_id, "role_changed", by=by, at=at, was=was, becomes=role
    )
    return await withdraw_those_of(tx, organization_id, person_id, above=role, by=by, at=at)


async def remove_member(tx: Tx, organization_id: UUID, person_id: UUID, *, giver: Role, by: str, at: datetime) -> int:
    """Remove a member at once, and end their sessions here. Their account and other memberships stay.

    The invitations that they made are withdrawn, so that they cannot come back by one; how many there were.
    """
    held = await locked_members(tx, organization_id, person_id)
    giver = await role_now(tx, organization_id, giver, by=by)
    was = _changeable(held, person_id, giver)
    if owners_among(held) == {person_id}:
        raise LastOwner
    await tx.run(REMOVE, organization_id, person_id)
    await security_log.record(tx, [organization_id], "member", person_id, "removed", by=by, at=at, was=was)
    if by != f"person {person_id}":
        await sessions.end_all(tx, person_id, at=at, organization_id=organization_id)
    if not await memberships(tx, person_id):
        await withdraw_links(tx, person_id, at=at)
    return await withdraw_those_of(tx, organization_id, person_id, by=by, at=at)


async def locked_members(tx: Tx, organization_id: UUID, person_id: UUID) -> dict[UUID, Role]:
    """This member and every owner, locked: of two owners who step down concurrently, the second is the last."""
    return {row["person_id"]: Role(row["role"]) for row in await tx.rows(LOCK, organization_id, person_id)}


def owners_among(held: dict[UUID, Role]) -> set[UUID]:
    return {person_id for person_id, role in held.items() if role is Role.OWNER}


def _changeable(held: dict[UUID, Role], person_id: UUID, giver: Role) -> Role:
    if person_id not in held:
        raise MemberNotFound
    if RANK[held[person_id]] > RANK[giver]:
        raise NotPermitted("Nobody changes somebody whose role is above their own.", param="role")
    return held[person_id]


# Not EXISTS: PostgreSQL would build a hash table of all passwords to look up one page.
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

# The owners first: everybody who changes a team waits for the same rows, so that two of them cannot deadlock.
LOCK: Final = """
    SELECT person_id, role
      FROM member
     WHERE organization_id = $1
       AND (role = 'owner' OR person_id = $2)
     ORDER BY role <> 'owner', person_id
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
