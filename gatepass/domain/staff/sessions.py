"""Sessions: a random cookie, stored as a hash. They expire, and end at once when somebody ends them."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Final
from uuid import UUID

from gatepass.base.client_ip import Address
from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain.attention import ENDING, FAILING
from gatepass.domain.cell import TOKEN_BYTES
from gatepass.domain.staff.role import Role

# An active session expires too: a stolen cookie must not work for ever.
LIFETIME: Final = timedelta(days=14)
# Somebody else may use a laptop that was left at the gate office the next morning.
IDLE: Final = timedelta(hours=24)
# `seen_at` is written at most this often: not every click should cost a write.
SEEN_EVERY: Final = timedelta(minutes=1)
# How long after authentication a person may change secrets.
REAUTHENTICATED_FOR: Final = timedelta(minutes=10)
# How long after its expiry a session is kept: long enough to ask where somebody was signed in.
KEPT: Final = timedelta(days=30)
BATCH: Final = 1_000


class AccountDisabled(Refusal):
    """This account is disabled. Ask the operator of this service."""

    code = "account_disabled"


@dataclass(frozen=True, slots=True)
class Session:
    """An open session: the person, and the organization that they have chosen, if any."""

    id: UUID
    person_id: UUID
    email: str
    name: str
    organization_id: UUID | None
    organization_name: str | None
    time_zone: str
    role: str | None
    seen_at: datetime
    confirmed_at: datetime | None
    second_factor: bool
    requires_second_factor: bool
    studio_networks: list[IPv4Network | IPv6Network] | None
    unseen_notices: int
    failing_endpoints: int
    ending_keys: int
    suspended_at: datetime | None
    suspended_reason: str | None
    erase_at: datetime | None

    @property
    def actor(self) -> str:
        """The person, as the audit log names an actor."""
        return f"person {self.person_id}"

    @property
    def held_role(self) -> Role | None:
        return Role(self.role) if self.role else None

    def is_reauthenticated(self, at: datetime) -> bool:
        return self.confirmed_at is not None and at - self.confirmed_at < REAUTHENTICATED_FOR


async def begin(
    tx: Tx,
    person_id: UUID,
    *,
    at: datetime,
    address: Address | None,
    browser: str,
    confirmed: bool = True,
    organization_id: UUID | None = None,
    second_factor: bool = False,
) -> str:
    """Open a session and return its cookie. It starts in this organization, or in the first of the person's."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    begun = await tx.run(
        BEGIN,
        new_id(),
        token_digest(token),
        person_id,
        at,
        at + LIFETIME,
        at if confirmed else None,
        address,
        browser[:300],
        second_factor,
        organization_id,
    )
    if not begun:
        raise AccountDisabled
    return token


async def find(tx: Tx, token: str, *, at: datetime) -> Session | None:
    """The open session of this cookie."""
    session = await tx.one(Session, FIND, token_digest(token), at, at - IDLE)
    if session is not None and at - session.seen_at > SEEN_EVERY:
        await tx.run(SEE, session.id, at)
    return session


async def switch_organization(tx: Tx, session_id: UUID, organization_id: UUID, *, person_id: UUID) -> bool:
    """Choose another organization for this session; False if the person is not a member of it."""
    return bool(await tx.run(SWITCH_ORGANIZATION, session_id, organization_id, person_id))


async def reload(tx: Tx, session_id: UUID, *, at: datetime) -> Session | None:
    """The session as it is now, if it is still open.

    Reading it does not count as activity: a laptop left alone with a live page on its screen still times out.
    """
    return await tx.one(Session, RELOAD, session_id, at, at - IDLE)


async def mark_strong(tx: Tx, session_id: UUID) -> None:
    """A second factor was set up in this session, and shown to work."""
    await tx.run(MARK_STRONG, session_id)


async def end(tx: Tx, session_id: UUID, *, at: datetime) -> None:
    await tx.run(END, session_id, at)


async def end_all(tx: Tx, person_id: UUID, *, at: datetime, organization_id: UUID | None = None) -> int:
    """End every session of the person, or those in one organization; how many there were."""
    return await tx.run(END_ALL, person_id, at, organization_id, at - LIFETIME)


async def is_open(tx: Tx, session_id: UUID, *, at: datetime) -> bool:
    """Whether the session is open at this moment, within a transaction that has locked the person."""
    return await tx.value(IS_OPEN, session_id, at, at - IDLE) is not None


async def delete_some_expired(tx: Tx, *, at: datetime) -> int:
    """Delete a batch of old sessions and batches of old links, which name addresses; how many there were."""
    old = at - KEPT
    links = await tx.run(DELETE_LINKS, old, BATCH) + await tx.run(DELETE_MAILED_LINKS, old, BATCH)
    return await tx.run(DELETE_SESSIONS, old, BATCH) + links


def token_digest(token: str) -> bytes:
    """The hash that is stored instead of a token. 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


BEGIN: Final = """
    -- every organization: the first that the person is a member of
    INSERT INTO studio_session (id, token_hash, person_id, began_at, seen_at, expires_at, confirmed_at, address,
                                browser, second_factor, chosen_organization_id)
    SELECT $1, $2, p.id, $4, $4, $5, $6, $7, $8, $9,
           (SELECT m.organization_id FROM member m
             WHERE m.person_id = p.id AND ($10::uuid IS NULL OR m.organization_id = $10)
             ORDER BY m.joined_at LIMIT 1)
      FROM person p
     WHERE p.id = $3
       AND p.disabled_at IS NULL
"""

# Both statements are joined of these constants, never of values.
OPEN_SESSION: Final = (
    """
    -- every organization: the session determines which one
    SELECT s.id, s.person_id, p.email, p.name, m.organization_id, o.name AS organization_name,
           coalesce(o.time_zone, 'UTC') AS time_zone, m.role, s.seen_at, s.confirmed_at, s.second_factor,
           coalesce(o.requires_second_factor, false) AS requires_second_factor,
           o.studio_networks,
           (SELECT count(*) FROM notice n WHERE n.person_id = s.person_id AND n.seen_at IS NULL) AS unseen_notices,
           (SELECT count(*) FROM webhook_endpoint w
             WHERE w.organization_id = m.organization_id AND"""
    + FAILING
    + """) AS failing_endpoints,
           (SELECT count(*) FROM api_key k
             WHERE k.organization_id = m.organization_id AND"""
    + ENDING
    + """) AS ending_keys,
           o.suspended_at, o.suspended_reason, o.erase_at
      FROM studio_session s
      JOIN person p ON p.id = s.person_id
      LEFT JOIN member m ON m.organization_id = s.chosen_organization_id AND m.person_id = s.person_id
      LEFT JOIN organization o ON o.id = m.organization_id
     WHERE s.ended_at IS NULL
       AND s.expires_at > $2
       AND s.seen_at > $3
       AND p.disabled_at IS NULL
"""
)
FIND: Final = OPEN_SESSION + " AND s.token_hash = $1"
RELOAD: Final = OPEN_SESSION + " AND s.id = $1"

MARK_STRONG: Final = """
    UPDATE studio_session
       SET second_factor = true
     WHERE id = $1
"""

SEE: Final = """
    UPDATE studio_session
       SET seen_at = $2
     WHERE id = $1
"""

SWITCH_ORGANIZATION: Final = """
    UPDATE studio_session s
       SET chosen_organization_id = m.organization_id
      FROM member m
     WHERE s.id = $1
       AND s.person_id = $3
       AND m.organization_id = $2
       AND m.person_id = $3
"""

END: Final = """
    UPDATE studio_session
       SET ended_at = $2
     WHERE id = $1
       AND ended_at IS NULL
"""

END_ALL: Final = """
    UPDATE studio_session
       SET ended_at = $2
     WHERE person_id = $1
       AND began_at > $4
       AND ended_at IS NULL
       AND expires_at > $2
       AND ($3::uuid IS NULL OR chosen_organization_id = $3)
"""

IS_OPEN: Final = """
    SELECT true
      FROM studio_session
     WHERE id = $1
       AND ended_at IS NULL
       AND expires_at > $2
       AND seen_at > $3
"""

DELETE_SESSIONS: Final = """
    DELETE FROM studio_session s
     USING (SELECT id FROM studio_session WHERE expires_at < $1 LIMIT $2) old
     WHERE s.id = old.id
"""

DELETE_LINKS: Final = """
    DELETE FROM sign_in_link l
     USING (SELECT token_hash FROM sign_in_link WHERE expires_at < $1 LIMIT $2) old
     WHERE l.token_hash = old.token_hash
"""

DELETE_MAILED_LINKS: Final = """
    DELETE FROM mailed_link l
     USING (SELECT token_hash FROM mailed_link WHERE expires_at < $1 LIMIT $2) old
     WHERE l.token_hash = old.token_hash
"""
