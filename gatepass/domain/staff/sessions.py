"""Sessions: a random cookie whose hash we keep. They end by themselves, and at once when somebody ends them."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.address import Address
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain.staff.role import Role

# However busy, a session ends: a stolen cookie must not live for ever.
LIFETIME: Final = timedelta(days=14)
# A laptop left at the gate office is somebody else's the next morning.
IDLE: Final = timedelta(hours=24)
# Noted at most this often: a click should not cost a write.
SEEN_EVERY: Final = timedelta(minutes=1)
# How long somebody who showed who they are may touch secrets.
CONFIRMED_FOR: Final = timedelta(minutes=10)
TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Session:
    """An open session: who it is, and where they are at work now, if anywhere."""

    id: UUID
    person_id: UUID
    email: str
    name: str
    organization_id: UUID | None
    organization_name: str | None
    role: str | None
    seen_at: datetime
    confirmed_at: datetime | None

    @property
    def held_role(self) -> Role | None:
        return Role(self.role) if self.role else None

    def is_confirmed(self, at: datetime) -> bool:
        return self.confirmed_at is not None and at - self.confirmed_at < CONFIRMED_FOR


async def begin(
    tx: Tx, person_id: UUID, *, at: datetime, address: Address | None, browser: str, confirmed: bool = True
) -> str:
    """Open a session and return its cookie. It starts in the first of the person's organizations."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    await tx.run(
        BEGIN,
        new_id(),
        token_digest(token),
        person_id,
        at,
        at + LIFETIME,
        at if confirmed else None,
        address,
        browser[:300],
    )
    return token


async def find(tx: Tx, token: str, *, at: datetime) -> Session | None:
    """The open session of this cookie."""
    session = await tx.one(Session, FIND, token_digest(token), at, at - IDLE)
    if session is not None and at - session.seen_at > SEEN_EVERY:
        await tx.run(SEE, session.id, at)
    return session


async def go_to(tx: Tx, session_id: UUID, organization_id: UUID, *, person_id: UUID) -> bool:
    """Go to work in another of one's organizations; whether it is one."""
    return bool(await tx.run(GO_TO, session_id, organization_id, person_id))


async def end(tx: Tx, session_id: UUID, *, at: datetime) -> None:
    await tx.run(END, session_id, at)


def token_digest(token: str) -> bytes:
    """What is kept instead of a token: 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


BEGIN: Final = """
    -- every organization: the first of those that the person works for
    INSERT INTO studio_session (id, token_hash, person_id, began_at, seen_at, expires_at, confirmed_at, address,
                                browser, chosen_organization_id)
    VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8,
            (SELECT m.organization_id FROM member m WHERE m.person_id = $3 ORDER BY m.joined_at LIMIT 1))
"""

FIND: Final = """
    -- every organization: the session is what tells us which one
    SELECT s.id, s.person_id, p.email, p.name, m.organization_id, o.name AS organization_name, m.role, s.seen_at,
           s.confirmed_at
      FROM studio_session s
      JOIN person p ON p.id = s.person_id
      LEFT JOIN member m ON m.organization_id = s.chosen_organization_id AND m.person_id = s.person_id
      LEFT JOIN organization o ON o.id = m.organization_id
     WHERE s.token_hash = $1
       AND s.ended_at IS NULL
       AND s.expires_at > $2
       AND s.seen_at > $3
"""

SEE: Final = """
    UPDATE studio_session
       SET seen_at = $2
     WHERE id = $1
"""

GO_TO: Final = """
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
