"""One-time codes from an authenticator app, by RFC 6238, beside a password.

Six digits, thirty seconds, SHA-1: every app supports these. SHA-1 is no weakness here, since a code is worthless half a
minute later. A time step is used once, by the conditional UPDATE in TAKE_STEP, so a code that somebody saw typed is
used up.
"""

import hmac
import secrets
from base64 import b32encode, b64encode
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from typing import Final
from urllib.parse import quote, urlencode
from uuid import UUID

import segno

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain.staff.membership import note_everywhere
from gatepass.domain.staff.recovery_codes import make_recovery_codes

STEP_SECONDS: Final = 30
DIGITS: Final = 6
# A phone's clock may be one step off, either way.
TOLERANCE: Final = 1
SEED_BYTES: Final = 20
ISSUER: Final = "Gatepass"


class WrongCode(Refusal):
    """This code is not right, or it was used already. Wait for the next one."""

    code = "wrong_code"


class CodesAlreadyOn(Refusal):
    """One-time codes are on already."""

    code = "codes_already_on"


@dataclass(frozen=True, slots=True)
class _StoredSeed:
    id: UUID
    sealed_seed: bytes
    last_step: int


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The seed for an authenticator app: as text to type, and as an address, which the QR code has."""

    seed: str = field(repr=False)
    address: str = field(repr=False)

    def picture_url(self) -> str:
        """The QR code as a data URL: a request for it would stand in logs."""
        return "data:image/svg+xml;base64," + b64encode(self.picture().encode()).decode()

    def picture(self) -> str:
        """The QR code as SVG, black on white in either theme, because phones read it best so."""
        out = BytesIO()
        segno.make(self.address, error="m", micro=False).save(
            out, kind="svg", scale=5, border=4, dark="#000", light="#fff", xmldecl=False, svgclass="qr", lineclass=None,
            title="QR code for an authenticator app", omitsize=False,
        )  # fmt: skip
        return out.getvalue().decode()


async def begin_codes(tx: Tx, person_id: UUID, email: str, vault: Vault, *, at: datetime) -> Enrolment:
    """Make a seed to be scanned. Until a first code is typed, codes are not required, and this may be called again."""
    id, seed = new_id(), secrets.token_bytes(SEED_BYTES)
    if not await tx.run(BEGIN, person_id, id, vault.seal(seed, seed_context(person_id, id)), at):
        raise CodesAlreadyOn
    return _enrolment(seed, email)


async def pending_enrolment(tx: Tx, person_id: UUID, email: str, vault: Vault) -> Enrolment | None:
    """The seed that is not confirmed yet, to be shown again after a mistyped code."""
    stored = await tx.one(_StoredSeed, UNCONFIRMED, person_id)
    if stored is None:
        return None
    return _enrolment(vault.open(stored.sealed_seed, seed_context(person_id, stored.id)), email)


async def turn_codes_on(tx: Tx, person_id: UUID, code: str, vault: Vault, *, by: str, at: datetime) -> list[str]:
    """Turn codes on with a first code, which proves that the app has the seed. The recovery codes, to be shown once."""
    stored = await tx.one(_StoredSeed, UNCONFIRMED, person_id)
    if stored is None or not await _take(tx, person_id, stored, code, vault, at):
        raise WrongCode(param="code")
    await tx.run(CONFIRM, person_id, at)
    await note_everywhere(tx, person_id, "one_time_codes_on", by=by, at=at)
    return await make_recovery_codes(tx, person_id, by=by, at=at)


async def turn_codes_off(tx: Tx, person_id: UUID, *, by: str, at: datetime) -> None:
    """Require no codes any more. The recovery codes are deleted too, since they only replace one-time codes."""
    await tx.run(DELETE_RECOVERY_CODES, person_id)
    if await tx.run(TURN_OFF, person_id):
        await note_everywhere(tx, person_id, "one_time_codes_off", by=by, at=at)


async def wants_code(tx: Tx, person_id: UUID) -> bool:
    """Whether this person needs a code beside the password."""
    return await tx.value(CONFIRMED, person_id) is not None


async def accept_code(tx: Tx, person_id: UUID, code: str, vault: Vault, *, at: datetime) -> bool:
    """Whether this is a current code that was not used. It is used by this call."""
    stored = await tx.one(_StoredSeed, CONFIRMED, person_id)
    return stored is not None and await _take(tx, person_id, stored, code, vault, at)


async def _take(tx: Tx, person_id: UUID, stored: _StoredSeed, code: str, vault: Vault, at: datetime) -> bool:
    seed = vault.open(stored.sealed_seed, seed_context(person_id, stored.id))
    step = _matching_step(seed, code, at)
    return step is not None and bool(await tx.run(TAKE_STEP, person_id, stored.id, step))


def _matching_step(seed: bytes, code: str, at: datetime) -> int | None:
    now = step_of(at)
    typed = "".join(code.split()).encode(errors="replace")
    found = None
    for step in range(now - TOLERANCE, now + TOLERANCE + 1):
        if hmac.compare_digest(code_of(seed, step).encode(), typed):
            found = step
    return found


def step_of(at: datetime) -> int:
    return int(at.timestamp()) // STEP_SECONDS


def code_of(seed: bytes, step: int) -> str:
    """RFC 4226: four bytes of the digest, at the offset in its last four bits, as a decimal number."""
    digest = hmac.digest(seed, step.to_bytes(8), "sha1")
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def seed_context(person_id: UUID, id: UUID) -> str:
    """The associated data of a sealed seed, so that it opens in its own row alone."""
    return f"one_time_code {person_id} {id}"


def _enrolment(seed: bytes, email: str) -> Enrolment:
    text = b32encode(seed).decode()
    label = quote(f"{ISSUER}:{email}")
    return Enrolment(text, f"otpauth://totp/{label}?{urlencode({'secret': text, 'issuer': ISSUER})}")


BEGIN: Final = """
    INSERT INTO one_time_code AS c (person_id, id, sealed_seed, created_at)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (person_id) DO UPDATE
       SET id = excluded.id, sealed_seed = excluded.sealed_seed, created_at = excluded.created_at, last_step = 0
     WHERE c.confirmed_at IS NULL
"""

UNCONFIRMED: Final = """
    SELECT id, sealed_seed, last_step
      FROM one_time_code
     WHERE person_id = $1
       AND confirmed_at IS NULL
"""

CONFIRMED: Final = """
    SELECT id, sealed_seed, last_step
      FROM one_time_code
     WHERE person_id = $1
       AND confirmed_at IS NOT NULL
"""

TAKE_STEP: Final = """
    UPDATE one_time_code
       SET last_step = $3
     WHERE person_id = $1
       AND id = $2
       AND last_step < $3
"""

CONFIRM: Final = """
    UPDATE one_time_code
       SET confirmed_at = $2
     WHERE person_id = $1
"""

TURN_OFF: Final = """
    DELETE FROM one_time_code
     WHERE person_id = $1
"""

DELETE_RECOVERY_CODES: Final = """
    DELETE FROM recovery_code
     WHERE person_id = $1
"""
