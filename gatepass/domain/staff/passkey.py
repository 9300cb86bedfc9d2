"""Passkeys: a key on a person's device that signs our challenge. We store no secret, and the person types none.

A response that fails returns None instead of raising, because the consumed challenge and the suspicion of a copy must
be committed.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain.staff import challenge
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.membership import note_everywhere
from gatepass.domain.staff.person import lock_person
from gatepass.domain.staff.webauthn import (
    RelyingParty,
    authentication_options,
    read_response,
    registration_options,
    verified_registration,
    verified_sign_count,
)

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
class _StoredPasskey:
    person_id: UUID
    id: UUID
    public_key: bytes


async def begin_registration(
    tx: Tx, party: RelyingParty, person_id: UUID, email: str, name: str, *, at: datetime, anew: bool = False
) -> str:
    """The options for a new passkey of this person, as JSON. During sign-up the person does not exist yet.

    `anew` is for a passkey that replaces all others: a device that has one may make it.
    """
    have = [] if anew else [row["credential_id"] for row in await tx.rows(CREDENTIALS, person_id)]
    if len(have) >= MOST:
        raise TooManyPasskeys
    issued = await challenge.issue(tx, Purpose.ADD_PASSKEY, person_id, at=at)
    return registration_options(party, issued, person_id, email, name, have)


async def add(
    tx: Tx, party: RelyingParty, person_id: UUID, response_text: str, name: str, *, by: str, at: datetime
) -> UUID | None:
    """Store a new passkey, if this is a valid response to a challenge of this person; None if it is not."""
    response = read_response(response_text)
    if response is None or not await challenge.consume(tx, Purpose.ADD_PASSKEY, response.challenge(), person_id, at=at):
        return None
    made = verified_registration(party, response.challenge(), response)
    if made is None:
        return None
    id, name = new_id(), name.strip()[:LONGEST_NAME] or "Passkey"
    stored = await tx.run(
        ADD, person_id, id, made.credential_id, made.credential_public_key, made.sign_count, name,
        made.credential_backed_up, at,
    )  # fmt: skip
    if not stored:
        return None
    await note_everywhere(tx, person_id, "passkey_added", by=by, at=at, becomes=name)
    return id


async def begin_sign_in(tx: Tx, party: RelyingParty, *, at: datetime) -> str:
    """The options for signing in, as JSON. The person is not known yet."""
    return authentication_options(party, await challenge.issue(tx, Purpose.SIGN_IN, None, at=at))


async def begin_reauthentication(tx: Tx, party: RelyingParty, person_id: UUID, *, at: datetime) -> str:
    """The options for reauthentication of a person who is signed in, as JSON."""
    have = [row["credential_id"] for row in await tx.rows(CREDENTIALS, person_id)]
    return authentication_options(party, await challenge.issue(tx, Purpose.REAUTHENTICATE, person_id, at=at), have)


async def authenticate(
    tx: Tx, party: RelyingParty, response_text: str, *, purpose: Purpose, person_id: UUID | None = None, at: datetime
) -> UUID | None:
    """The owner of the passkey that responded; None if it is nobody's, or not this person's. Commit it either way."""
    response = read_response(response_text)
    if response is None or not await challenge.consume(tx, purpose, response.challenge(), person_id, at=at):
        return None
    stored = await tx.one(_StoredPasskey, BY_CREDENTIAL, response.credential_id())
    if stored is None or person_id not in (None, stored.person_id) or not response.names(stored.person_id):
        return None
    count = verified_sign_count(party, response.challenge(), response, stored.public_key)
    if count is None:
        return None
    if await tx.run(USE, stored.person_id, stored.id, count, at):
        return stored.person_id
    if await tx.run(SUSPECT, stored.person_id, stored.id, at):
        await note_everywhere(tx, stored.person_id, "passkey_suspect", by=f"person {stored.person_id}", at=at)
    return None


async def passkeys_of(tx: Tx, person_id: UUID) -> list[Passkey]:
    return await tx.all(Passkey, OF_PERSON, person_id, MOST)


async def rename(tx: Tx, person_id: UUID, passkey_id: UUID, name: str, *, by: str, at: datetime) -> None:
    was = await tx.value(RENAME, person_id, passkey_id, name)
    if was is None:
        raise PasskeyNotFound
    await note_everywhere(tx, person_id, "passkey_renamed", by=by, at=at, was=was, becomes=name)


async def remove(tx: Tx, person_id: UUID, passkey_id: UUID, *, by: str, at: datetime) -> None:
    """Remove a passkey, unless the person could not sign in without it."""
    # Two concurrent removals could otherwise remove the last two.
    await lock_person(tx, person_id)
    others = [one for one in await passkeys_of(tx, person_id) if one.id != passkey_id]
    if not others and not await tx.value(OTHER_CREDENTIAL, person_id):
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

# The sign count of a synced passkey is always 0. Any other count must have grown.
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

OTHER_CREDENTIAL: Final = """
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
