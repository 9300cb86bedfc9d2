"""Challenges: random bytes that a browser has to answer. Each is stored until its first answer, or until it expires."""

import hashlib
import secrets
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx

# Long enough to look for a phone.
VALID_FOR: Final = timedelta(minutes=5)
CHALLENGE_BYTES: Final = 32
# How many expired challenges each new one deletes, so that the table stays small under any load.
CLEARED_AT_ONCE: Final = 10


class Purpose(StrEnum):
    """A challenge is valid for its own purpose only."""

    SIGN_IN = "sign_in"
    REAUTHENTICATE = "confirm"
    ADD_PASSKEY = "add_passkey"
    SECOND_FACTOR = "second_factor"


async def issue(tx: Tx, purpose: Purpose, person_id: UUID | None, *, at: datetime) -> bytes:
    """A new challenge. `person_id` is None while the person is not known."""
    challenge = secrets.token_bytes(CHALLENGE_BYTES)
    await tx.run(CLEAR, at, CLEARED_AT_ONCE)
    await tx.run(ISSUE, _hash(challenge), purpose, person_id, at + VALID_FOR)
    return challenge


async def consume(tx: Tx, purpose: Purpose, challenge: bytes, person_id: UUID | None, *, at: datetime) -> bool:
    """Whether this challenge is open for this purpose and person. It is closed by this call."""
    return bool(await tx.run(CONSUME, _hash(challenge), purpose, person_id, at))


async def person_of(tx: Tx, purpose: Purpose, challenge: bytes, *, at: datetime) -> UUID | None:
    """The person of this challenge, if it is open. It stays open."""
    return await tx.value(PERSON_OF, _hash(challenge), purpose, at)


def _hash(challenge: bytes) -> bytes:
    return hashlib.sha256(challenge).digest()


ISSUE: Final = """
    INSERT INTO challenge (hash, purpose, person_id, expires_at)
    VALUES ($1, $2, $3, $4)
"""

CONSUME: Final = """
    DELETE FROM challenge
     WHERE hash = $1
       AND purpose = $2
       AND person_id IS NOT DISTINCT FROM $3
       AND expires_at > $4
"""

PERSON_OF: Final = """
    SELECT person_id
      FROM challenge
     WHERE hash = $1
       AND purpose = $2
       AND expires_at > $3
"""

CLEAR: Final = """
    DELETE FROM challenge
     WHERE hash = ANY (ARRAY(SELECT hash FROM challenge WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
                                FOR UPDATE SKIP LOCKED))
"""
