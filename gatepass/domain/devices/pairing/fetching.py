"""A device fetches its key, with a signature of the key that was confirmed. It may do so again if an answer was lost.

Each fetch replaces the key. So a key that somebody else fetched, with a copy of a signature, ends as soon as the device
fetches its own, and a signature that got a key gets no other.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.domain import security_log
from gatepass.domain.cards.phone_code import is_signed
from gatepass.domain.devices.device import SUBJECT, Device, DeviceStatus
from gatepass.domain.devices.listing import lock_device
from gatepass.domain.devices.pairing.requests import (
    InvalidSignature,
    PairingEnded,
    PairingNotFound,
    RequestStatus,
)
from gatepass.domain.devices.registration import issue_key
from gatepass.domain.keys import Mode

CONTEXT: Final = "svc-pair-1"
# A copy of a signature is worth nothing after this long; the clock of a device may be a little wrong.
TOLERANCE: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed fetch: `written_at` is the device's time as it wrote it, which is what it signed."""

    request: str
    written_at: str
    made_at: datetime
    signature: bytes

    def require(self, public_key: bytes, *, at: datetime) -> None:
        message = f"{CONTEXT}\n{self.request}\n{self.written_at}".encode()
        if not is_signed(message, self.signature, public_key):
            raise InvalidSignature
        if abs(self.made_at - at) > TOLERANCE:
            raise InvalidSignature("The clock of this device is wrong by more than 2 minutes.", now=rfc3339(at))


@dataclass(frozen=True, slots=True)
class Fetched:
    device: Device
    key: str


@dataclass(frozen=True, slots=True)
class _Request:
    organization_id: UUID
    code_id: UUID
    mode: Mode
    public_key: bytes
    status: RequestStatus
    device_id: UUID | None
    fetched_at: datetime | None
    expires_at: datetime


async def fetch(tx: Tx, signed: Signed, *, cell: str, at: datetime) -> Fetched | None:
    """The device and its new key; None while nobody has decided. Who cannot sign for it learns nothing."""
    found = await tx.one(_Request, FIND, signed.request)
    if found is None:
        raise PairingNotFound
    signed.require(found.public_key, at=at)
    if found.expires_at <= at:
        raise PairingEnded
    if found.status is RequestStatus.WAITING:
        return None
    if found.status is not RequestStatus.CONFIRMED or found.device_id is None:
        raise PairingEnded
    device = await lock_device(tx, found.organization_id, found.mode, found.device_id)
    if device.status is not DeviceStatus.PAIRED:
        raise PairingEnded
    if found.fetched_at is not None and signed.made_at <= found.fetched_at:
        raise InvalidSignature
    by = f"device {device.id}"
    key = await issue_key(tx, device, cell=cell, by=by, at=at)
    await tx.run(FETCHED, found.organization_id, found.code_id, signed.request, signed.made_at)
    await security_log.record(tx, [found.organization_id], SUBJECT, device.id, "key_fetched", by=by, at=at)
    return Fetched(device, key)


FIND: Final = """
    -- every organization: the request determines which one
    SELECT r.organization_id, r.code_id, c.mode, r.public_key, r.status, r.device_id, r.fetched_at, c.expires_at
      FROM pairing_request r
      JOIN pairing_code c ON c.organization_id = r.organization_id AND c.id = r.code_id
     WHERE r.request = $1
       FOR UPDATE OF r
"""

FETCHED: Final = """
    UPDATE pairing_request
       SET fetched_at = $4
     WHERE organization_id = $1
       AND code_id = $2
       AND request = $3
"""
