"""A person who uses the studio.

Addresses are compared by `folded`, here and in PostgreSQL: of two spellings of one address both must find the same
person, and the throttle must count both as one.
"""

import re
import string
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.ids import new_id
from gatepass.domain.staff.membership import note_everywhere

# No proof that it exists: visible ASCII, an @, a host. Letters beyond ASCII have several spellings, and lower cases
# that depend on the locale; a domain with such letters has a form that begins with xn--.
EMAIL: Final = re.compile(r"[!-?A-~]{1,64}@[!-?A-~]{1,255}")
BEYOND_ASCII: Final = (
    "Use the letters A to Z in an e-mail address. If its domain has others, write it in the form that begins with xn--."
)
FOLD: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class EmailTaken(Refusal):
    """Somebody with this e-mail address is here already."""

    code = "email_taken"


@dataclass(frozen=True, slots=True)
class Person:
    id: UUID
    email: str
    name: str
    disabled_at: datetime | None = None


def folded(email: str) -> str:
    """The one form of an address: A to Z in lower case and nothing else, as `lower(email COLLATE "C")` has it."""
    return email.strip().translate(FOLD)


def check_email(email: str) -> str:
    """The form in which an address is stored."""
    if not email.isascii():
        raise InvalidRequest(BEYOND_ASCII, param="email")
    if not EMAIL.fullmatch(email.strip()):
        raise InvalidRequest("This is not an e-mail address.", param="email")
    return folded(email)


async def enrol(tx: Tx, email: str, name: str, *, at: datetime, id: UUID | None = None, proven: bool = False) -> Person:
    """Create a person. An address belongs to one person, in any case of its letters. The operator says `proven`."""
    person = Person(id or new_id(), check_email(email), name)
    await lock_address(tx, person.email)
    if not await tx.run(ENROL, person.id, person.email, name, at, at if proven else None):
        raise EmailTaken
    return person


async def rename_person(tx: Tx, person_id: UUID, name: str, *, was: str, by: str, at: datetime) -> None:
    await tx.run(RENAME, person_id, name)
    await note_everywhere(tx, person_id, "renamed", by=by, at=at, was=was, becomes=name)


async def find_person(tx: Tx, email: str) -> Person | None:
    return await tx.one(Person, FIND, folded(email))


async def lock_person(tx: Tx, person_id: UUID) -> None:
    """Let one transaction at a time change how this person signs in, or where they belong."""
    await tx.run(LOCK, person_id)


async def lock_address(tx: Tx, email: str) -> None:
    """Let one transaction at a time give this address to somebody."""
    await tx.run(LOCK_ADDRESS, folded(email))


async def is_proven(tx: Tx, person_id: UUID) -> bool:
    """Whether it is known that this account belongs to its address: by the operator's word, or by a mailed link."""
    return await tx.value(PROVEN, person_id) is not None


async def holds_anything(tx: Tx, person_id: UUID, *, at: datetime) -> bool:
    """Whether anybody could sign in as this person, or is signed in."""
    return await tx.value(HOLDS_ANYTHING, person_id, at) is not None


async def mark_proven(tx: Tx, person_id: UUID, *, at: datetime) -> None:
    """This account belongs to its address: the operator says so, or its person used a link that was mailed there."""
    await tx.run(MARK_PROVEN, person_id, at)


# No target of the conflict: two indexes keep addresses apart, and version 0.2 knows one of them.
ENROL: Final = """
    INSERT INTO person (id, email, name, created_at, proven_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING
"""

RENAME: Final = """
    UPDATE person
       SET name = $2
     WHERE id = $1
"""

FIND: Final = """
    SELECT id, email, name, disabled_at
      FROM person
     WHERE lower(email COLLATE "C") = $1
       AND removed_at IS NULL
"""

LOCK: Final = """
    SELECT id
      FROM person
     WHERE id = $1
       FOR NO KEY UPDATE
"""

LOCK_ADDRESS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('address of a person ' || $1, 0))"

PROVEN: Final = """
    SELECT proven_at
      FROM person
     WHERE id = $1
"""

MARK_PROVEN: Final = """
    UPDATE person
       SET proven_at = coalesce(proven_at, $2)
     WHERE id = $1
"""

HOLDS_ANYTHING: Final = """
    SELECT true
      FROM person p
     WHERE p.id = $1
       AND (EXISTS (SELECT FROM password WHERE person_id = p.id)
            OR EXISTS (SELECT FROM passkey WHERE person_id = p.id)
            OR EXISTS (SELECT FROM one_time_code WHERE person_id = p.id)
            OR EXISTS (SELECT FROM recovery_code WHERE person_id = p.id)
            OR EXISTS (SELECT FROM sign_in_link WHERE person_id = p.id AND used_at IS NULL AND expires_at > $2)
            OR EXISTS (SELECT FROM studio_session WHERE person_id = p.id AND ended_at IS NULL AND expires_at > $2))
"""
