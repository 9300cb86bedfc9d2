"""Challenges: a question that we asked, kept until it is answered or too old. The first answer takes it."""

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
# How many forgotten questions one new one clears away, so that the table stays small however often we are asked.
CLEARED_AT_ONCE: Final = 10


class Purpose(StrEnum):
    """An answer to one question is no answer to another."""

    SIGN_IN = "sign_in"
    CONFIRM = "confirm"
    ADD_PASSKEY = "add_passkey"
    SECOND_FACTOR = "second_factor"


async def ask(tx: Tx, purpose: Purpose, person_id: UUID | None, *, at: datetime) -> bytes:
    """Ask something new. `person_id` is None as long as we do not know who answers."""
    challenge = secrets.token_bytes(CHALLENGE_BYTES)
    await tx.run(CLEAR, at, CLEARED_AT_ONCE)
    await tx.run(ASK, _hash(challenge), purpose, person_id, at + VALID_FOR)
    return challenge


async def take(tx: Tx, purpose: Purpose, challenge: bytes, person_id: UUID | None, *, at: datetime) -> bool:
    """Whether this was asked for this purpose, of this person, lately, and not answered yet. Now it is."""
    return bool(await tx.run(TAKE, _hash(challenge), purpose, person_id, at))


async def asked(tx: Tx, purpose: Purpose, challenge: bytes, *, at: datetime) -> UUID | None:
    """Of whom this was asked, if the question is still open. It stays open."""
    return await tx.value(ASKED, _hash(challenge), purpose, at)


def _hash(challenge: bytes) -> bytes:
    return hashlib.sha256(challenge).digest()


ASK: Final = """
    INSERT INTO challenge (hash, purpose, person_id, expires_at)
    VALUES ($1, $2, $3, $4)
"""

TAKE: Final = """
    DELETE FROM challenge
     WHERE hash = $1
       AND purpose = $2
       AND person_id IS NOT DISTINCT FROM $3
       AND expires_at > $4
"""

ASKED: Final = """
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
