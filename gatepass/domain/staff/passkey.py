"""Passkeys: a key on a person's device that signs our challenge. Nothing to steal here, nothing to type there.

An answer is judged and not refused by an exception, because what it used up, and what it made us suspect, must be
committed either way.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import Refusal
from gatepass.domain.staff import challenge
from gatepass.domain.staff.ceremony import (
    Party,
    creation_options,
    read_answer,
    request_options,
    verified_count,
    verified_creation,
)
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.noting import note_everywhere

MOST: Final = 20
LONGEST_NAME: Final = 100


class PasskeyNotFound(Refusal):
    """There is no such passkey."""

    code = "passkey_not_found"


class TooManyPasskeys(Refusal):
    """You have as many passkeys as one person can have. Remove one first."""

    code = "too_many_passkeys"


class PasskeyNotKept(Refusal):
    """The passkey could not be made. Try again."""

    code = "passkey_not_kept"


class LastCredential(Refusal):
    """This is all that you can sign in with. Add a password or another passkey first."""

    code = "last_credential"


@dataclass(frozen=True, slots=True)
class Passkey:
    id: UUID
    name: str
    backed_up: bool
    created_at: datetime
    used_at: datetime | None
    suspect_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Kept:
    person_id: UUID
    id: UUID
    public_key: bytes


async def ask_to_create(tx: Tx, party: Party, person_id: UUID, email: str, name: str, *, at: datetime) -> str:
    """The options for a new passkey of this person, as JSON. Who signs up may not be a person yet."""
    have = [row["credential_id"] for row in await tx.rows(CREDENTIALS, person_id)]
    if len(have) >= MOST:
        raise TooManyPasskeys
    asked = await challenge.ask(tx, Purpose.ADD_PASSKEY, person_id, at=at)
    return creation_options(party, asked, person_id, email, name, have)


async def add(
    tx: Tx, party: Party, person_id: UUID, answer_text: str, name: str, *, by: str, at: datetime
) -> UUID | None:
    """Keep a new passkey, if this answers what we asked of this person; None if it does not."""
    answer = read_answer(answer_text)
    if answer is None or not await challenge.take(tx, Purpose.ADD_PASSKEY, answer.challenge(), person_id, at=at):
        return None
    made = verified_creation(party, answer.challenge(), answer)
    if made is None:
        return None
    id, name = new_id(), name.strip()[:LONGEST_NAME] or "Passkey"
    kept = await tx.run(
        ADD, person_id, id, made.credential_id, made.credential_public_key, made.sign_count, name,
        made.credential_backed_up, at,
    )  # fmt: skip
    if not kept:
        return None
    await note_everywhere(tx, person_id, "passkey_added", by=by, at=at, becomes=name)
    return id


async def ask_to_sign_in(tx: Tx, party: Party, *, at: datetime) -> str:
    """The options for signing in, as JSON, whoever it may be."""
    return request_options(party, await challenge.ask(tx, Purpose.SIGN_IN, None, at=at))


async def ask_to_confirm(tx: Tx, party: Party, person_id: UUID, *, at: datetime) -> str:
    """The options for somebody who is signed in and shows again that it is them."""
    have = [row["credential_id"] for row in await tx.rows(CREDENTIALS, person_id)]
    return request_options(party, await challenge.ask(tx, Purpose.CONFIRM, person_id, at=at), have)


async def recognize(
    tx: Tx, party: Party, answer_text: str, *, purpose: Purpose, person_id: UUID | None = None, at: datetime
) -> UUID | None:
    """Whose passkey has answered; None if it is nobody's, or not this person's. Commit it either way."""
    answer = read_answer(answer_text)
    if answer is None or not await challenge.take(tx, purpose, answer.challenge(), person_id, at=at):
        return None
    kept = await tx.one(_Kept, BY_CREDENTIAL, answer.credential_id())
    if kept is None or person_id not in (None, kept.person_id) or not answer.names(kept.person_id):
        return None
    count = verified_count(party, answer.challenge(), answer, kept.public_key)
    if count is None:
        return None
    if await tx.run(USE, kept.person_id, kept.id, count, at):
        return kept.person_id
    await tx.run(SUSPECT, kept.person_id, kept.id, at)
    await note_everywhere(tx, kept.person_id, "passkey_suspect", by=f"person {kept.person_id}", at=at)
    return None


async def passkeys_of(tx: Tx, person_id: UUID) -> list[Passkey]:
    return await tx.all(Passkey, OF_PERSON, person_id, MOST)


async def rename(tx: Tx, person_id: UUID, passkey_id: UUID, name: str, *, by: str, at: datetime) -> None:
    was = await tx.value(RENAME, person_id, passkey_id, name)
    if was is None:
        raise PasskeyNotFound
    await note_everywhere(tx, person_id, "passkey_renamed", by=by, at=at, was=was, becomes=name)


async def remove(tx: Tx, person_id: UUID, passkey_id: UUID, *, by: str, at: datetime) -> None:
    """Take a passkey away, unless nothing would be left to sign in with."""
    await tx.run(ONE_AT_A_TIME, person_id)
    others = [one for one in await passkeys_of(tx, person_id) if one.id != passkey_id]
    if not others and not await tx.value(OTHER_WAY_IN, person_id):
        raise LastCredential
    was = await tx.value(REMOVE, person_id, passkey_id)
    if was is None:
        raise PasskeyNotFound
    await note_everywhere(tx, person_id, "passkey_removed", by=by, at=at, was=was)


CREDENTIALS: Final = """
    SELECT credential_id
      FROM passkey
     WHERE person_id = $1
"""

ADD: Final = """
    INSERT INTO passkey (person_id, id, credential_id, public_key, sign_count, name, backed_up, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (credential_id) DO NOTHING
"""

BY_CREDENTIAL: Final = """
    SELECT person_id, id, public_key
      FROM passkey
     WHERE credential_id = $1
"""

# Synced passkeys do not count: theirs is always 0. Any other count must have grown.
USE: Final = """
    UPDATE passkey
       SET sign_count = $3, used_at = $4
     WHERE person_id = $1
       AND id = $2
       AND (sign_count < $3 OR (sign_count = 0 AND $3 = 0))
"""

SUSPECT: Final = """
    UPDATE passkey
       SET suspect_at = $3
     WHERE person_id = $1
       AND id = $2
"""

OF_PERSON: Final = """
    SELECT id, name, backed_up, created_at, used_at, suspect_at
      FROM passkey
     WHERE person_id = $1
     ORDER BY created_at, id
     LIMIT $2
"""

RENAME: Final = """
    UPDATE passkey k
       SET name = $3
      FROM (SELECT name FROM passkey WHERE person_id = $1 AND id = $2 FOR UPDATE) before
     WHERE k.person_id = $1
       AND k.id = $2
    RETURNING before.name
"""

# Two removals at once would each leave the other's.
ONE_AT_A_TIME: Final = """
    SELECT id
      FROM person
     WHERE id = $1
       FOR UPDATE
"""

OTHER_WAY_IN: Final = """
    SELECT true
      FROM password
     WHERE person_id = $1
"""

REMOVE: Final = """
    DELETE FROM passkey
     WHERE person_id = $1
       AND id = $2
    RETURNING name
"""
