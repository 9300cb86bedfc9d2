"""Recovery codes: ten codes for a lost phone. They are shown once and stored as hashes, and each works once."""

import hashlib
import secrets
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.staff.membership import note_everywhere

COUNT: Final = 10
# No characters that look alike. So many of them have 138 bits: no slow hash is needed.
ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
LETTERS: Final = 28


async def make_recovery_codes(tx: Tx, person_id: UUID, *, by: str, at: datetime) -> list[str]:
    """Ten new codes, to be shown once; earlier ones no longer work."""
    codes = [_code() for _ in range(COUNT)]
    await tx.run(DELETE_ALL, person_id)
    await tx.run(KEEP, person_id, [_hash(person_id, code) for code in codes], at)
    await note_everywhere(tx, person_id, "recovery_codes_made", by=by, at=at)
    return codes


async def accept_recovery_code(tx: Tx, person_id: UUID, code: str, *, at: datetime) -> bool:
    """Whether this is an unused code of the person. It is used by this call."""
    used = bool(await tx.run(USE, person_id, _hash(person_id, code), at))
    if used:
        left = await recovery_codes_left(tx, person_id)
        await note_everywhere(
            tx, person_id, "recovery_code_used", by=f"person {person_id}", at=at, becomes=f"{left} left"
        )
    return used


async def recovery_codes_left(tx: Tx, person_id: UUID) -> int:
    return await tx.value(LEFT, person_id)


def _code() -> str:
    letters = [secrets.choice(ALPHABET) for _ in range(LETTERS)]
    return "-".join("".join(letters[at : at + 4]) for at in range(0, LETTERS, 4))


def _hash(person_id: UUID, code: str) -> bytes:
    """In any case, with blanks or dashes, as people type it."""
    plain = "".join(c for c in code.lower() if c in ALPHABET)
    return hashlib.sha256(f"recovery {person_id} {plain}".encode()).digest()


DELETE_ALL: Final = """
    DELETE FROM recovery_code
     WHERE person_id = $1
"""

KEEP: Final = """
    INSERT INTO recovery_code (person_id, hash, made_at)
    SELECT $1, n.hash, $3
      FROM unnest($2::bytea[]) AS n (hash)
"""

USE: Final = """
    UPDATE recovery_code
       SET used_at = $3
     WHERE person_id = $1
       AND hash = $2
       AND used_at IS NULL
"""

LEFT: Final = """
    SELECT count(*)
      FROM recovery_code
     WHERE person_id = $1
       AND used_at IS NULL
"""
