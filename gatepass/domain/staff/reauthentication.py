"""Showing again who one is, and the sessions of one person: looking at them, ending them."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Address, Tx
from gatepass.base.refusals import Refusal
from gatepass.domain.staff.noting import note_everywhere
from gatepass.domain.staff.sessions import IDLE, LIFETIME, TOKEN_BYTES, token_digest

# Nobody looks further than this, and none of them is hidden from "end all others".
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


async def confirm(tx: Tx, session_id: UUID, *, at: datetime) -> str:
    """The person has shown who they are. The new cookie: an older one that somebody took is worth nothing now."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    await tx.run(CONFIRM, session_id, token_digest(token), at)
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


CONFIRM: Final = """
    UPDATE studio_session
       SET token_hash = $2, confirmed_at = $3, seen_at = $3
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
