"""Invitations: a link that brings somebody into an organization, once, within a week.

We send no e-mail: who invites copies the link and sends it. It is kept as a hash, so it can be shown only when it is
made; inviting the same address again makes a new link, and the old one stops working.
"""

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.paging import Place
from gatepass.base.refusals import InvalidRequest, Refusal
from gatepass.domain import changes
from gatepass.domain.staff.membership import join
from gatepass.domain.staff.person import EMAIL
from gatepass.domain.staff.role import RANK, NotPermitted, Role
from gatepass.domain.staff.sessions import TOKEN_BYTES, token_digest

VALID_FOR: Final = timedelta(days=7)
# Enough for a festival's whole crew on one day.
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


@dataclass(frozen=True, slots=True)
class Invitation:
    organization_id: UUID
    id: UUID
    email: str
    role: Role
    invited_by: str
    invited_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Offer:
    """An invitation as the one who follows its link sees it."""

    organization_id: UUID
    organization_name: str
    id: UUID
    email: str
    role: Role
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Invited:
    invitation_id: UUID
    token: str = field(repr=False)


async def invite(
    tx: Tx, organization_id: UUID, email: str, role: Role, *, giver: Role, by: str, at: datetime
) -> Invited:
    """Make a link. Nobody gives a role above their own."""
    if not EMAIL.fullmatch(email) or not email.isprintable():
        raise InvalidRequest("This is not an e-mail address.", param="email")
    if RANK[role] > RANK[giver]:
        raise NotPermitted(
            f"Only somebody who is {_with_article(role)} can invite {_with_article(role)}.", param="role"
        )
    if await tx.value(IS_MEMBER, organization_id, email):
        raise AlreadyMember(param="email")
    for id in await _withdraw(tx, organization_id, email, at):
        await changes.note(tx, organization_id, "invitation", id, "replaced", by=by, at=at)
    if await tx.value(COUNT_OPEN, organization_id, at - VALID_FOR, MOST_OPEN) >= MOST_OPEN:
        raise TooManyInvitations
    made = Invited(new_id(), secrets.token_urlsafe(TOKEN_BYTES))
    await tx.run(
        INVITE, organization_id, made.invitation_id, email, role, token_digest(made.token), by, at, at + VALID_FOR
    )
    await changes.note(
        tx, organization_id, "invitation", made.invitation_id, "made", by=by, at=at, becomes=f"{email} as {role.spoken}"
    )
    return made


async def _withdraw(tx: Tx, organization_id: UUID, email: str, at: datetime) -> list[UUID]:
    return [row["id"] for row in await tx.rows(WITHDRAW, organization_id, email, at, at - VALID_FOR)]


async def revoke_invitation(
    tx: Tx, organization_id: UUID, invitation_id: UUID, *, giver: Role, by: str, at: datetime
) -> None:
    """Take a link out of use. Nobody takes what they could not give."""
    role = await tx.value(REVOKE, organization_id, invitation_id, at)
    if role is None:
        raise InvitationNotFound
    if RANK[Role(role)] > RANK[giver]:
        raise NotPermitted(f"Only somebody who is {_with_article(Role(role))} can revoke this invitation.")
    await changes.note(tx, organization_id, "invitation", invitation_id, "revoked", by=by, at=at)


async def open_invitations(
    tx: Tx, organization_id: UUID, *, before: Place, limit: int, at: datetime
) -> list[Invitation]:
    """A page of the invitations that can still be used, the latest first."""
    return await tx.all(Invitation, OPEN, organization_id, at - VALID_FOR, before.at, before.id, limit)


async def find_offer(tx: Tx, token: str, *, at: datetime) -> Offer:
    """What this link offers, if it still does."""
    offer = await tx.one(Offer, OFFER, token_digest(token), at)
    if offer is None:
        raise InvitationNotFound
    return offer


async def accept(tx: Tx, offer: Offer, person_id: UUID, email: str, *, at: datetime) -> None:
    """Take the offer, once: of two at the same moment one gets it."""
    if email.lower() != offer.email.lower():
        raise ForSomebodyElse
    if not await tx.run(ACCEPT, offer.organization_id, offer.id, person_id, at):
        raise InvitationNotFound
    by = f"person {person_id}"
    await changes.note(tx, offer.organization_id, "invitation", offer.id, "accepted", by=by, at=at)
    await join(tx, offer.organization_id, person_id, offer.role, by=by, at=at)


def _with_article(role: Role) -> str:
    return f"an {role.spoken}" if role.spoken[0] in "aeiou" else f"a {role.spoken}"


IS_MEMBER: Final = """
    SELECT true
      FROM person p
      JOIN member m ON m.organization_id = $1 AND m.person_id = p.id
     WHERE lower(p.email) = lower($2)
"""

WITHDRAW: Final = """
    UPDATE invitation
       SET revoked_at = $3
     WHERE organization_id = $1
       AND invited_at > $4
       AND lower(email) = lower($2)
       AND accepted_at IS NULL
       AND revoked_at IS NULL
    RETURNING id
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
    INSERT INTO invitation (organization_id, id, email, role, token_hash, invited_by, invited_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
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
    SELECT organization_id, id, email, role, invited_by, invited_at, expires_at
      FROM invitation
     WHERE organization_id = $1
       AND invited_at > $2
       AND accepted_at IS NULL
       AND revoked_at IS NULL
       AND (invited_at, id) < ($3, $4)
     ORDER BY invited_at DESC, id DESC
     LIMIT $5
"""

OFFER: Final = """
    -- every organization: the link is what tells us which one
    SELECT i.organization_id, o.name AS organization_name, i.id, i.email, i.role, i.expires_at
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
