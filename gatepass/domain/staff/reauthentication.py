"""Reauthentication, and the list of a person's open sessions, which they can end."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Address, Tx
from gatepass.base.errors import Refusal
from gatepass.domain.cell import TOKEN_BYTES
from gatepass.domain.staff.membership import note_everywhere
from gatepass.domain.staff.sessions import IDLE, LIFETIME, token_digest

# Nobody reads a longer list; "end all others" ends the rest too.
MOST_SHOWN: Final = 100


class SessionNotFound(Refusal):
    """There is no such session, or it has ended."""

    code = "session_not_found"


@dataclass(frozen=True, slots=True)
class OpenSession:
    id: UUID
    began_at: datetime
    seen_at: datetime
    address: Address | None
    browser: str | None


async def mark_reauthenticated(tx: Tx, session_id: UUID, *, at: datetime, second_factor: bool = False) -> str:
    """Store that the person has authenticated again. The new cookie: a stolen older one is worthless from now on."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    await tx.run(MARK_REAUTHENTICATED, session_id, token_digest(token), at, second_factor)
    return token


async def open_sessions(tx: Tx, person_id: UUID, *, at: datetime) -> list[OpenSession]:
    """The person's open sessions, the latest first."""
    return await tx.all(OpenSession, OPEN, person_id, at, at - IDLE, MOST_SHOWN, at - LIFETIME)


async def end_one(tx: Tx, person_id: UUID, session_id: UUID, *, by: str, at: datetime) -> None:
    if not await tx.run(END_ONE, person_id, session_id, at):
        raise SessionNotFound
    await note_everywhere(tx, person_id, "session_ended", by=by, at=at)


async def end_others(tx: Tx, person_id: UUID, keep: UUID | None, *, by: str, at: datetime) -> int:
    """End every session of the person except one; how many there were."""
    ended = await tx.run(END_OTHERS, person_id, keep, at)
    if ended:
        await note_everywhere(tx, person_id, "sessions_ended", by=by, at=at, becomes=str(ended))
    return ended


MARK_REAUTHENTICATED: Final = """
    UPDATE studio_session
       SET token_hash = $2, confirmed_at = $3, seen_at = $3, second_factor = second_factor OR $4
     WHERE id = $1
       AND ended_at IS NULL
"""

OPEN: Final = """
    SELECT id, began_at, seen_at, address, browser
      FROM studio_session
     WHERE person_id = $1
       AND began_at > $5
       AND ended_at IS NULL
       AND expires_at > $2
       AND seen_at > $3
     ORDER BY began_at DESC, id DESC
     LIMIT $4
"""

END_ONE: Final = """
    UPDATE studio_session
       SET ended_at = $3
     WHERE person_id = $1
       AND id = $2
       AND ended_at IS NULL
       AND expires_at > $3
"""

END_OTHERS: Final = """
    UPDATE studio_session
       SET ended_at = $3
     WHERE person_id = $1
       AND id IS DISTINCT FROM $2
       AND ended_at IS NULL
       AND expires_at > $3
"""
