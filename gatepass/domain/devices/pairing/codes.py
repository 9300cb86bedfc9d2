"""Pairing codes: what a lead shows to a device, for ten minutes, for one event and gate.

The cell's letter and 9 random characters of Crockford's base32, 45 bits: few enough to type, and too many to guess in
ten minutes within the limits of the interface. The code is not the credential: a person confirms what asks with it.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import audit_log
from gatepass.domain.devices.device import required_gate
from gatepass.domain.devices.pairing.requests import PairingNotFound
from gatepass.domain.devices.registration import require_open_event, require_permission
from gatepass.domain.keys import Mode
from gatepass.domain.organizations import require_not_suspended

LIFE: Final = timedelta(minutes=10)
MOST_DEVICES: Final = 50
# More than a team shows at a time. It bounds what there is to guess.
MOST_OPEN: Final = 20
# The subject of audit entries.
SUBJECT: Final = "pairing_code"
ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
RANDOM: Final = 9
CODE: Final = re.compile(f"[A-Z][{ALPHABET}]{{{RANDOM}}}")
# Nobody asks what became of a code after this long.
KEPT: Final = timedelta(days=1)
DELETED_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class MadeCode:
    """A code at the only moment at which it is known."""

    id: UUID
    text: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PairingCode:
    """`ended_reason`: a lead ended it, or `contested`, if two devices used a code for one."""

    organization_id: UUID
    id: UUID
    mode: Mode
    event_id: UUID
    gate: str
    devices: int
    made_at: datetime
    made_by: str
    expires_at: datetime
    ended_at: datetime | None
    ended_reason: str | None

    def is_open(self, at: datetime) -> bool:
        return self.ended_at is None and self.expires_at > at


def canonical_code(text: str) -> str | None:
    """The code as it is hashed: upper case, without dashes and spaces. None if it cannot be one."""
    code = text.replace("-", "").replace(" ", "").upper()
    return code if CODE.fullmatch(code) else None


def written_code(code: str) -> str:
    """As people read it: A7K29-QXR3M."""
    return f"{code[:5]}-{code[5:]}"


def code_hash(code: str) -> bytes:
    return hashlib.sha256(b"svc-pairing-code\0" + code.encode()).digest()


async def make_code(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    event_id: UUID,
    gate: str,
    *,
    devices: int = 1,
    cell: str,
    by: str,
    at: datetime,
) -> MadeCode:
    """A code for one device, or for several at this gate. Only its hash is stored."""
    gate = required_gate(gate)
    if not 1 <= devices <= MOST_DEVICES:
        raise InvalidRequest(f"A code is for 1 to {MOST_DEVICES} devices.", param="devices")
    await require_not_suspended(tx, organization_id)
    await require_permission(tx, organization_id, by=by)
    await require_open_event(tx, organization_id, mode, event_id)
    if await tx.value(COUNT_OPEN, organization_id, at) >= MOST_OPEN:
        raise NotAllowedFromHere(f"{MOST_OPEN} codes are open already. Wait until some have expired, or end them.")
    code = cell.upper() + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    made = MadeCode(new_id(), code, at + LIFE)
    await tx.run(
        MAKE, organization_id, made.id, code_hash(code), mode, event_id, gate, devices, at, by, made.expires_at
    )
    becomes = f"gate {gate}, event {event_id}, {devices} {'device' if devices == 1 else 'devices'}"
    await audit_log.record(tx, organization_id, SUBJECT, made.id, "made", by=by, at=at, becomes=becomes)
    return made


async def find_code(tx: Tx, organization_id: UUID, mode: Mode, code_id: UUID) -> PairingCode:
    found = await tx.one(PairingCode, FIND, organization_id, mode, code_id)
    if found is None:
        raise PairingNotFound
    return found


async def lock_code(tx: Tx, organization_id: UUID, mode: Mode, code_id: UUID) -> PairingCode:
    """The code, locked: what asks with it and who decides about it take turns."""
    found = await tx.one(PairingCode, LOCK, organization_id, mode, code_id)
    if found is None:
        raise PairingNotFound
    return found


async def open_codes(tx: Tx, organization_id: UUID, mode: Mode, *, at: datetime) -> list[PairingCode]:
    """The codes that devices can ask with now, the newest first."""
    return await tx.all(PairingCode, OPEN, organization_id, mode, at, MOST_OPEN)


async def end_code(tx: Tx, organization_id: UUID, mode: Mode, code_id: UUID, *, by: str, at: datetime) -> None:
    """Take a code out of use, with the requests that wait. Ending it again changes nothing."""
    await require_permission(tx, organization_id, by=by)
    code = await lock_code(tx, organization_id, mode, code_id)
    if code.is_open(at):
        await close(tx, code, "by a lead", by=by, at=at)


async def close(tx: Tx, code: PairingCode, reason: str, *, by: str, at: datetime) -> None:
    await tx.run(END, code.organization_id, code.id, at, reason)
    await tx.run(END_REQUESTS, code.organization_id, code.id, at, by)
    await audit_log.record(tx, code.organization_id, SUBJECT, code.id, "ended", by=by, at=at, reason=reason)


async def delete_some_old(tx: Tx, *, at: datetime) -> int:
    """Delete codes that expired a day ago, with their requests; how many there were."""
    return await tx.run(DELETE_OLD, at - KEPT, DELETED_AT_ONCE)


COUNT_OPEN: Final = """
    SELECT count(*)
      FROM pairing_code
     WHERE organization_id = $1
       AND expires_at > $2
       AND ended_at IS NULL
"""

MAKE: Final = """
    INSERT INTO pairing_code (organization_id, id, code_hash, mode, event_id, gate, devices, made_at, made_by,
                              expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""

FIND: Final = """
    SELECT organization_id, id, mode, event_id, gate, devices, made_at, made_by, expires_at, ended_at, ended_reason
      FROM pairing_code
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
"""

LOCK: Final = """
    SELECT organization_id, id, mode, event_id, gate, devices, made_at, made_by, expires_at, ended_at, ended_reason
      FROM pairing_code
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
       FOR UPDATE
"""

OPEN: Final = """
    SELECT organization_id, id, mode, event_id, gate, devices, made_at, made_by, expires_at, ended_at, ended_reason
      FROM pairing_code
     WHERE organization_id = $1
       AND mode = $2
       AND expires_at > $3
       AND ended_at IS NULL
     ORDER BY made_at DESC, id DESC
     LIMIT $4
"""

END: Final = """
    UPDATE pairing_code
       SET ended_at = $3, ended_reason = $4
     WHERE organization_id = $1
       AND id = $2
"""

END_REQUESTS: Final = """
    UPDATE pairing_request
       SET status = 'ended', decided_at = $3, decided_by = $4
     WHERE organization_id = $1
       AND code_id = $2
       AND status = 'waiting'
"""

DELETE_OLD: Final = """
    -- every organization: maintenance looks after all of this cell
    DELETE FROM pairing_code
     WHERE (organization_id, id) IN (SELECT c.organization_id, c.id
                                       FROM pairing_code c
                                      WHERE c.expires_at <= $1
                                      LIMIT $2
                                        FOR UPDATE SKIP LOCKED)
"""
