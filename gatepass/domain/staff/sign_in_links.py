"""Links that sign a person in, once and soon: for `gatepass dev`, and for somebody who has lost everything."""

import secrets
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.staff.sessions import TOKEN_BYTES, token_digest

VALID_FOR: Final = timedelta(minutes=15)


async def make_link(tx: Tx, person_id: UUID, *, at: datetime) -> str:
    """The token of a new link."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    await tx.run(MAKE, token_digest(token), person_id, at + VALID_FOR)
    return token


async def use_link(tx: Tx, token: str, *, at: datetime) -> UUID | None:
    """Whose link this is, if it is still good; from now on it is not."""
    return await tx.value(USE, token_digest(token), at)


MAKE: Final = """
    INSERT INTO sign_in_link (token_hash, person_id, expires_at)
    VALUES ($1, $2, $3)
"""

USE: Final = """
    UPDATE sign_in_link
       SET used_at = $2
     WHERE token_hash = $1
       AND used_at IS NULL
       AND expires_at > $2
    RETURNING person_id
"""
