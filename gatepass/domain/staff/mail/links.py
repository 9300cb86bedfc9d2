"""Links that a person gets by mail: one signs them in, another proves that an address is theirs.

Only the hash is kept. Opening a link changes nothing, because mail scanners open them; a button of the page uses it.
A link that signs in is worth as much as the password and no more: who has codes is asked for one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.cell import new_token
from gatepass.domain.staff.sessions import token_digest

SIGN_IN_FOR: Final = timedelta(minutes=15)
# Somebody reads their mail tomorrow. The link works only for the person who is signed in.
PROOF_FOR: Final = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class AddressProof:
    """A link that shows: whoever has it reads the letters of this address."""

    person_id: UUID
    email: str
    expires_at: datetime


async def make_sign_in(tx: Tx, person_id: UUID | None, *, cell: str, at: datetime) -> str:
    """The token of a new link. Without a person it is the same work, and a link that signs nobody in."""
    token = new_token(cell)
    await tx.run(MAKE, token_digest(token), "sign_in", person_id, None, at + SIGN_IN_FOR)
    return token


async def use_sign_in(tx: Tx, token: str, *, at: datetime) -> UUID | None:
    """The person of this link, if it is valid. It is used up by this call, and with it the others of that person."""
    person_id: UUID | None = await tx.value(USE_SIGN_IN, token_digest(token), at)
    if person_id is not None:
        await tx.run(WITHDRAW_SIGN_INS, person_id)
    return person_id


async def make_proof(tx: Tx, person_id: UUID, email: str, *, cell: str, at: datetime) -> str:
    """The token of a new link. Older ones of this person end: they may name another address."""
    await tx.run(WITHDRAW_PROOFS, person_id)
    token = new_token(cell)
    await tx.run(MAKE, token_digest(token), "address", person_id, email, at + PROOF_FOR)
    return token


async def find_proof(tx: Tx, token: str, *, at: datetime) -> AddressProof | None:
    return await tx.one(AddressProof, FIND_PROOF, token_digest(token), at)


async def use_proof(tx: Tx, token: str, person_id: UUID, *, at: datetime) -> str | None:
    """The address that this link proves, if it is valid and this person's. Of two concurrent calls one gets it."""
    return await tx.value(USE_PROOF, token_digest(token), person_id, at)


MAKE: Final = """
    INSERT INTO mailed_link (token_hash, purpose, person_id, email, expires_at)
    VALUES ($1, $2, $3, $4, $5)
"""

USE_SIGN_IN: Final = """
    UPDATE mailed_link
       SET used_at = $2
     WHERE token_hash = $1
       AND purpose = 'sign_in'
       AND used_at IS NULL
       AND expires_at > $2
    RETURNING person_id
"""

WITHDRAW_SIGN_INS: Final = """
    DELETE FROM mailed_link
     WHERE person_id = $1
       AND purpose = 'sign_in'
       AND used_at IS NULL
"""

WITHDRAW_PROOFS: Final = """
    DELETE FROM mailed_link
     WHERE person_id = $1
       AND purpose = 'address'
       AND used_at IS NULL
"""

FIND_PROOF: Final = """
    SELECT person_id, email, expires_at
      FROM mailed_link
     WHERE token_hash = $1
       AND purpose = 'address'
       AND used_at IS NULL
       AND expires_at > $2
"""

USE_PROOF: Final = """
    UPDATE mailed_link
       SET used_at = $3
     WHERE token_hash = $1
       AND person_id = $2
       AND purpose = 'address'
       AND used_at IS NULL
       AND expires_at > $3
    RETURNING email
"""
