"""A person who uses the studio."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import InvalidRequest, Refusal
from gatepass.domain.staff.noting import note_everywhere

# Not a proof that it exists: something, an @, something with a dot or a plain host, no blanks or controls.
EMAIL: Final = re.compile(r"[^@\s\x00-\x1f\x7f]{1,64}@[^@\s\x00-\x1f\x7f]{1,255}")


class EmailTaken(Refusal):
    """Somebody with this e-mail address is here already."""

    code = "email_taken"


@dataclass(frozen=True, slots=True)
class Person:
    id: UUID
    email: str
    name: str


async def enrol(tx: Tx, email: str, name: str, *, at: datetime, id: UUID | None = None) -> Person:
    """Make a person. An e-mail address belongs to one of them, however it is written."""
    if not EMAIL.fullmatch(email):
        raise InvalidRequest("This is not an e-mail address.", param="email")
    person = Person(id or new_id(), email, name)
    if not await tx.run(ENROL, person.id, email, name, at):
        raise EmailTaken
    return person


async def rename_person(tx: Tx, person_id: UUID, name: str, *, was: str, by: str, at: datetime) -> None:
    await tx.run(RENAME, person_id, name)
    await note_everywhere(tx, person_id, "renamed", by=by, at=at, was=was, becomes=name)


async def find_person(tx: Tx, email: str) -> Person | None:
    return await tx.one(Person, FIND, email)


ENROL: Final = """
    INSERT INTO person (id, email, name, created_at)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (lower(email)) DO NOTHING
"""

RENAME: Final = """
    UPDATE person
       SET name = $2
     WHERE id = $1
"""

FIND: Final = """
    SELECT id, email, name
      FROM person
     WHERE lower(email) = lower($1)
"""
