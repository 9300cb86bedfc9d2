"""Invitations: a link that brings somebody into an organization, once, within a week.

With a mail server the link goes to the invited address and nowhere else, so it proves that address. Without one the
inviting person copies it, once: only its hash is stored. Inviting somebody again makes a new link and ends the old one.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.domain import audit_log, security_log
from gatepass.domain.cell import new_token
from gatepass.domain.staff.membership import join, role_now
from gatepass.domain.staff.person import check_email, folded, holds_anything, is_proven, lock_person, mark_proven
from gatepass.domain.staff.role import RANK, NotPermitted, Role
from gatepass.domain.staff.sessions import token_digest

VALID_FOR: Final = timedelta(days=7)
# Enough for the whole crew of a festival on one day.
MOST_OPEN: Final = 500


class InvitationNotFound(Refusal):
    """There is no such invitation. It may have been used, revoked, or be over a week old."""

    code = "invitation_not_found"


class AlreadyMember(Refusal):
    """This person is in the team already."""

    code = "already_member"


class TooManyInvitations(Refusal):
    """There are as many open invitations as an organization can have. Revoke some first."""

    code = "too_many_invitations"


class ForSomebodyElse(Refusal):
    """This invitation is for somebody else. Sign out, and sign in as the person it is for."""

    code = "invitation_for_somebody_else"


class ResetNeeded(Refusal):
    """Nobody has proven that this account belongs to its address. Set a new password or passkey to join with it."""

    code = "reset_needed"


@dataclass(frozen=True, slots=True)
class Invitation:
    organization_id: UUID
    id: UUID
    email: str
    role: Role
    invited_by: str
    invited_at: datetime
    expires_at: datetime
    mailed_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReceivedInvitation:
    """An invitation as the person who follows its link sees it."""

    organization_id: UUID
    organization_name: str
    id: UUID
    email: str
    role: Role
    expires_at: datetime
    proves_email: bool
    mailed: bool


@dataclass(frozen=True, slots=True)
class NewInvitation:
    invitation_id: UUID
    token: str = field(repr=False)


async def invite(
    tx: Tx,
    organization_id: UUID,
    email: str,
    role: Role,
    *,
    giver: Role,
    cell: str,
    by: str,
    at: datetime,
    proves_email: bool = False,
    mailed: bool = False,
) -> NewInvitation:
    """Make a link. Nobody gives a role above their own. Only the operator says `proves_email`.

    One that is `mailed` proves the address too: the caller shows the link to nobody.
    """
    email = check_email(email)
    giver = await role_now(tx, organization_id, giver, by=by)
    if RANK[role] > RANK[giver]:
        raise NotPermitted(
            f"Only somebody who is {_with_article(role)} can invite {_with_article(role)}.", param="role"
        )
    if await tx.value(IS_MEMBER, organization_id, email):
        raise AlreadyMember(param="email")
    for id in await _withdraw(tx, organization_id, email, at):
        await audit_log.record(tx, organization_id, "invitation", id, "replaced", by=by, at=at)
    if await tx.value(COUNT_OPEN, organization_id, at - VALID_FOR, MOST_OPEN) >= MOST_OPEN:
        raise TooManyInvitations
    made = NewInvitation(new_id(), new_token(cell))
    await tx.run(
        INVITE, organization_id, made.invitation_id, email, role, token_digest(made.token), by, at, at + VALID_FOR,
        proves_email or mailed, at if mailed else None,
    )  # fmt: skip
    await audit_log.record(
        tx, organization_id, "invitation", made.invitation_id, "made", by=by, at=at, becomes=f"{email} as {role.spoken}"
    )
    return made


async def _withdraw(tx: Tx, organization_id: UUID, email: str, at: datetime) -> list[UUID]:
    return [row["id"] for row in await tx.rows(WITHDRAW, organization_id, email, at, at - VALID_FOR)]


async def revoke_invitation(
    tx: Tx, organization_id: UUID, invitation_id: UUID, *, giver: Role, by: str, at: datetime
) -> None:
    """Revoke an invitation. Nobody revokes one with a role above their own."""
    role = await tx.value(REVOKE, organization_id, invitation_id, at)
    if role is None:
        raise InvitationNotFound
    if RANK[Role(role)] > RANK[giver]:
        raise NotPermitted(f"Only somebody who is {_with_article(Role(role))} can revoke this invitation.")
    await audit_log.record(tx, organization_id, "invitation", invitation_id, "revoked", by=by, at=at)


async def open_invitations(
    tx: Tx, organization_id: UUID, *, before: Place, limit: int, at: datetime
) -> list[Invitation]:
    """A page of the invitations that can still be used, the latest first."""
    return await tx.all(Invitation, OPEN, organization_id, at - VALID_FOR, before.at, before.id, limit)


async def find_invitation(tx: Tx, token: str, *, at: datetime) -> ReceivedInvitation:
    """The invitation of this link, if it is open."""
    invitation = await tx.one(ReceivedInvitation, FIND, token_digest(token), at)
    if invitation is None:
        raise InvitationNotFound
    return invitation


async def accept(tx: Tx, invitation: ReceivedInvitation, person_id: UUID, email: str, *, at: datetime) -> None:
    """Accept the invitation, once: of two concurrent calls one succeeds.

    An account that nobody has proven joins with nothing that it had before: reset it first, in this transaction.
    """
    if folded(email) != folded(invitation.email):
        raise ForSomebodyElse
    await lock_person(tx, person_id)
    if not await is_proven(tx, person_id) and await holds_anything(tx, person_id, at=at):
        raise ResetNeeded
    if not await tx.run(ACCEPT, invitation.organization_id, invitation.id, person_id, at):
        raise InvitationNotFound
    by = f"person {person_id}"
    await security_log.record(tx, [invitation.organization_id], "invitation", invitation.id, "accepted", by=by, at=at)
    await join(tx, invitation.organization_id, person_id, invitation.role, by=by, at=at)
    if invitation.proves_email:
        await mark_proven(tx, person_id, at=at)


async def withdraw_those_of(
    tx: Tx, organization_id: UUID, person_id: UUID, *, above: Role | None = None, by: str, at: datetime
) -> int:
    """Withdraw the open invitations that this person made, or those with a role above this one; how many."""
    roles = [role for role in Role if above is None or RANK[role] > RANK[above]]
    found = await tx.rows(WITHDRAW_MADE_BY, organization_id, f"person {person_id}", roles, at, at - VALID_FOR)
    for row in found:
        await audit_log.record(tx, organization_id, "invitation", row["id"], "withdrawn", by=by, at=at)
    return len(found)


async def withdraw_everywhere(tx: Tx, person_id: UUID, *, by: str, at: datetime) -> None:
    """Withdraw what this person made in any organization, also in one that they have left."""
    for row in await tx.rows(INVITED_IN, f"person {person_id}", at - VALID_FOR):
        await withdraw_those_of(tx, row["organization_id"], person_id, by=by, at=at)


def _with_article(role: Role) -> str:
    return f"an {role.spoken}" if role.spoken[0] in "aeiou" else f"a {role.spoken}"


IS_MEMBER: Final = """
    SELECT true
      FROM person p
      JOIN member m ON m.organization_id = $1 AND m.person_id = p.id
     WHERE lower(p.email COLLATE "C") = $2
"""

WITHDRAW: Final = """
    UPDATE invitation
       SET revoked_at = $3
     WHERE organization_id = $1
       AND invited_at > $4
       AND lower(email COLLATE "C") = $2
       AND accepted_at IS NULL
       AND revoked_at IS NULL
    RETURNING id
"""

WITHDRAW_MADE_BY: Final = """
    UPDATE invitation
       SET revoked_at = $4
     WHERE organization_id = $1
       AND invited_by = $2
       AND role = ANY ($3)
       AND invited_at > $5
       AND accepted_at IS NULL
       AND revoked_at IS NULL
    RETURNING id
"""

INVITED_IN: Final = """
    -- every organization: a person who is removed leaves no invitation anywhere
    SELECT DISTINCT organization_id
      FROM invitation
     WHERE invited_by = $1
       AND invited_at > $2
       AND accepted_at IS NULL
       AND revoked_at IS NULL
"""

COUNT_OPEN: Final = """
    SELECT count(*)
      FROM (SELECT 1
              FROM invitation
             WHERE organization_id = $1
               AND invited_at > $2
               AND accepted_at IS NULL
               AND revoked_at IS NULL
             LIMIT $3) counted
"""

INVITE: Final = """
    INSERT INTO invitation (organization_id, id, email, role, token_hash, invited_by, invited_at, expires_at,
                            proves_email, mailed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""

REVOKE: Final = """
    UPDATE invitation
       SET revoked_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND accepted_at IS NULL
       AND revoked_at IS NULL
    RETURNING role
"""

OPEN: Final = """
    SELECT organization_id, id, email, role, invited_by, invited_at, expires_at, mailed_at
      FROM invitation
     WHERE organization_id = $1
       AND invited_at > $2
       AND accepted_at IS NULL
       AND revoked_at IS NULL
       AND (invited_at, id) < ($3, $4)
     ORDER BY invited_at DESC, id DESC
     LIMIT $5
"""

FIND: Final = """
    -- every organization: the link determines which one
    SELECT i.organization_id, o.name AS organization_name, i.id, i.email, i.role, i.expires_at,
           i.proves_email, i.mailed_at IS NOT NULL AS mailed
      FROM invitation i
      JOIN organization o ON o.id = i.organization_id
     WHERE i.token_hash = $1
       AND i.expires_at > $2
       AND i.accepted_at IS NULL
       AND i.revoked_at IS NULL
"""

ACCEPT: Final = """
    UPDATE invitation
       SET accepted_at = $4, accepted_by = $3
     WHERE organization_id = $1
       AND id = $2
       AND expires_at > $4
       AND accepted_at IS NULL
       AND revoked_at IS NULL
"""
