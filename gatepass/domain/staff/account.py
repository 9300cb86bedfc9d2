"""An account as a whole: disabling, resetting and removing it, and freeing an address that somebody else has taken.

Without a mail server nobody proves an address: whoever invites `ceo@example.com` can open the link and make that
account. So nobody joins an organization with an account that holds anything from before, unless it is proven: by the
operator's word, or by a mailed link. Joining another organization does not prove it: one attacker may own several.

A sign-in locks the credential that it used until its session is written. A reset deletes the credentials and then ends
the sessions, so no session of a deleted credential is left over.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import audit_log
from gatepass.domain.staff import sessions
from gatepass.domain.staff.invitations import withdraw_everywhere
from gatepass.domain.staff.membership import memberships, note_everywhere
from gatepass.domain.staff.person import EmailTaken, find_person, lock_person
from gatepass.domain.staff.sign_in_links import withdraw_links
from gatepass.domain.staff.team import LastOwner, locked_members, owners_among

# The actor in the audit log: nobody of the organization, and not the operator.
PROVER: Final = "the owner of the address"


@dataclass(frozen=True, slots=True)
class Removed:
    """How much of each was removed."""

    passwords: int
    passkeys: int
    one_time_codes: int
    recovery_codes: int
    links: int
    sessions: int

    def __str__(self) -> str:
        counts = (
            (self.passwords, "password", "passwords"),
            (self.passkeys, "passkey", "passkeys"),
            (self.one_time_codes, "authenticator app", "authenticator apps"),
            (self.recovery_codes, "recovery code", "recovery codes"),
            (self.links, "older link", "older links"),
            (self.sessions, "open session", "open sessions"),
        )
        return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count) or "nothing"


async def reset(tx: Tx, person_id: UUID, *, by: str, at: datetime) -> Removed:
    """Remove everything that the person signs in with, and end every session. Their memberships stay."""
    await lock_person(tx, person_id)
    removed = Removed(
        passwords=await tx.run(DELETE_PASSWORD, person_id),
        passkeys=await tx.run(DELETE_PASSKEYS, person_id),
        one_time_codes=await tx.run(DELETE_ONE_TIME_CODES, person_id),
        recovery_codes=await tx.run(DELETE_RECOVERY_CODES, person_id),
        links=await withdraw_links(tx, person_id, at=at),
        sessions=await sessions.end_all(tx, person_id, at=at),
    )
    await note_everywhere(tx, person_id, "account_reset", by=by, at=at, becomes=f"removed: {removed}")
    return removed


async def disable(tx: Tx, person_id: UUID, *, by: str, at: datetime) -> int | None:
    """End every session and refuse every sign-in until `enable`; the sessions that ended, None if it was so already.

    Memberships and credentials stay. A session that somebody opens at this very moment is not found by its cookie.
    """
    await lock_person(tx, person_id)
    if not await tx.run(DISABLE, person_id, at):
        return None
    await withdraw_links(tx, person_id, at=at)
    ended = await sessions.end_all(tx, person_id, at=at)
    await note_everywhere(tx, person_id, "account_disabled", by=by, at=at)
    return ended


async def enable(tx: Tx, person_id: UUID, *, by: str, at: datetime) -> bool:
    """Let a disabled person sign in again; False if they were not disabled."""
    await lock_person(tx, person_id)
    if not await tx.run(ENABLE, person_id):
        return False
    await sessions.end_all(tx, person_id, at=at)
    await note_everywhere(tx, person_id, "account_enabled", by=by, at=at)
    return True


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """An account as its operator lists it. `roles` has the role and the name of each organization."""

    id: UUID
    email: str
    name: str
    created_at: datetime
    disabled_at: datetime | None
    last_seen_at: datetime | None
    roles: list[str]


async def page_of_people(tx: Tx, *, after: UUID, limit: int, organization_id: UUID | None = None) -> list[ListedPerson]:
    """The accounts of this cell, oldest first; with an organization those of its members."""
    return await tx.all(ListedPerson, PEOPLE, after, limit, organization_id)


async def remove_person(
    tx: Tx, person_id: UUID, email: str, *, by: str, at: datetime, even_last_owner: bool = False
) -> Removed:
    """Remove an account from every organization and free its address. Its name stays, for the audit log."""
    await lock_person(tx, person_id)
    await note_everywhere(tx, person_id, "account_removed", by=by, at=at, was=email)
    removed = await reset(tx, person_id, by=by, at=at)
    for membership in await memberships(tx, person_id):
        held = await locked_members(tx, membership.organization_id, person_id)
        if owners_among(held) == {person_id} and not even_last_owner:
            raise LastOwner(f"{email} is the only owner of {membership.name}.")
        await tx.run(LEAVE, membership.organization_id, person_id)
        await audit_log.record(
            tx, membership.organization_id, "member", person_id, "removed", by=by, at=at, was=held.get(person_id)
        )
    await withdraw_everywhere(tx, person_id, by=by, at=at)
    await tx.run(REMOVE, person_id, at)
    return removed


async def free_address(tx: Tx, email: str, *, at: datetime, proven: bool = False) -> None:
    """Remove the account of this address if nobody has proven it and it is in no organization; else EmailTaken.

    Such an account has nothing to lose, and may be the work of somebody who took the address first. One that the
    operator has disabled stays: an invitation must not undo that.

    `proven` is for somebody who has shown that they read the letters of this address. Then an account in an
    organization that nobody has proven keeps everything but the address: its members must not be able to keep the
    owner of the address out, and the owner of a mailbox alone must not get what they have.
    """
    found = await find_person(tx, email)
    if found is None:
        return
    await lock_person(tx, found.id)
    standing = await tx.one(_Standing, STANDING, found.id)
    if standing is None or standing.removed:
        return
    if standing.proven or standing.disabled or (standing.member and not proven):
        raise EmailTaken
    if not standing.member:
        await remove_person(tx, found.id, email, by="invitation", at=at)
        return
    await withdraw_links(tx, found.id, at=at)
    await tx.run(TAKE_ADDRESS, found.id)
    await note_everywhere(tx, found.id, "address_lost", by=PROVER, at=at, was=email)


@dataclass(frozen=True, slots=True)
class _Standing:
    proven: bool
    removed: bool
    disabled: bool
    member: bool


DISABLE: Final = """
    UPDATE person
       SET disabled_at = $2
     WHERE id = $1
       AND disabled_at IS NULL
"""

ENABLE: Final = """
    UPDATE person
       SET disabled_at = NULL
     WHERE id = $1
       AND disabled_at IS NOT NULL
"""

PEOPLE: Final = """
    -- every organization: the operator sees where people belong
    SELECT p.id, p.email, p.name, p.created_at, p.disabled_at,
           (SELECT max(s.seen_at) FROM studio_session s WHERE s.person_id = p.id) AS last_seen_at,
           ARRAY(SELECT m.role || ' of ' || o.name
                   FROM member m
                   JOIN organization o ON o.id = m.organization_id
                  WHERE m.person_id = p.id
                  ORDER BY o.name, o.id) AS roles
      FROM person p
     WHERE p.id > $1
       AND p.removed_at IS NULL
       AND ($3::uuid IS NULL OR EXISTS (SELECT FROM member m WHERE m.organization_id = $3 AND m.person_id = p.id))
     ORDER BY p.id
     LIMIT $2
"""

STANDING: Final = """
    -- every organization: whether the person is a member of any
    SELECT p.proven_at IS NOT NULL AS proven, p.removed_at IS NOT NULL AS removed,
           p.disabled_at IS NOT NULL AS disabled,
           EXISTS (SELECT FROM member m WHERE m.person_id = p.id) AS member
      FROM person p
     WHERE p.id = $1
"""

# No address ends in `.invalid`, by RFC 2606. The account page shows it, and a password still signs in with it.
TAKE_ADDRESS: Final = """
    UPDATE person
       SET email = id || '@unproven.invalid'
     WHERE id = $1
"""

DELETE_PASSWORD: Final = "DELETE FROM password WHERE person_id = $1"  # noqa: S105  a statement
DELETE_PASSKEYS: Final = "DELETE FROM passkey WHERE person_id = $1"
DELETE_ONE_TIME_CODES: Final = "DELETE FROM one_time_code WHERE person_id = $1"
DELETE_RECOVERY_CODES: Final = "DELETE FROM recovery_code WHERE person_id = $1"

LEAVE: Final = """
    DELETE FROM member
     WHERE organization_id = $1
       AND person_id = $2
"""

# No address ends in `.invalid`, by RFC 2606.
REMOVE: Final = """
    UPDATE person
       SET email = id || '@removed.invalid', removed_at = $2, proven_at = NULL
     WHERE id = $1
"""
