"""Links that sign a person in once, within 15 minutes: for `gatepass dev`, and for somebody without credentials."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cell import new_token
from gatepass.domain.staff.sessions import token_digest

VALID_FOR: Final = timedelta(minutes=15)


async def make_link(tx: Tx, person_id: UUID, *, cell: str, at: datetime) -> str:
    """The token of a new link."""
    token = new_token(cell)
    await tx.run(MAKE, token_digest(token), person_id, at + VALID_FOR)
    return token


async def use_link(tx: Tx, token: str, *, at: datetime) -> UUID | None:
    """The person of this link, if it is valid. It is used up by this call."""
    return await tx.value(USE, token_digest(token), at)


async def withdraw_links(tx: Tx, person_id: UUID, *, at: datetime) -> int:
    """Delete the links of this person that could still be used, mailed ones too; how many there were."""
    return await tx.run(WITHDRAW, person_id, at) + await tx.run(WITHDRAW_MAILED, person_id, at)


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

WITHDRAW: Final = """
    DELETE FROM sign_in_link
     WHERE person_id = $1
       AND used_at IS NULL
       AND expires_at > $2
"""

WITHDRAW_MAILED: Final = """
    DELETE FROM mailed_link
     WHERE person_id = $1
       AND used_at IS NULL
       AND expires_at > $2
"""
