"""A lead decides about a device that asks: the same two words on both screens, or it is somebody else's device."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log
from gatepass.domain.devices.device import Device
from gatepass.domain.devices.pairing.codes import SUBJECT, PairingCode, close, lock_code
from gatepass.domain.devices.pairing.requests import PairingEnded, PairingNotFound, RequestStatus
from gatepass.domain.devices.registration import register, require_permission
from gatepass.domain.keys import Mode


@dataclass(frozen=True, slots=True)
class _Waiting:
    public_key: bytes
    name: str
    app: str | None
    status: RequestStatus


async def confirm(
    tx: Tx, organization_id: UUID, mode: Mode, code_id: UUID, request: str, *, by: str, at: datetime
) -> Device:
    """Take the device in. It can fetch its key from now on, until the code expires."""
    await require_permission(tx, organization_id, by=by)
    code, waiting = await _locked(tx, organization_id, mode, code_id, request)
    if waiting.status is RequestStatus.CONFIRMED:
        raise NotAllowedFromHere("This device is confirmed already.")
    if waiting.status is not RequestStatus.WAITING or not code.is_open(at):
        raise PairingEnded
    device = await register(
        tx,
        organization_id,
        mode,
        waiting.name,
        waiting.public_key,
        code.event_id,
        code.gate,
        by=by,
        at=at,
        app=waiting.app,
    )
    # A request of before must not fetch a key of the device that is paired now.
    await tx.run(END_OTHERS, organization_id, device.id, at, by)
    await tx.run(DECIDE, organization_id, code_id, request, RequestStatus.CONFIRMED, at, by, device.id)
    return device


async def refuse(
    tx: Tx, organization_id: UUID, mode: Mode, code_id: UUID, request: str, *, by: str, at: datetime
) -> None:
    """Turn a device away. A code for one device ends with it: somebody else has seen it. Again changes nothing."""
    await require_permission(tx, organization_id, by=by)
    code, waiting = await _locked(tx, organization_id, mode, code_id, request)
    if waiting.status is RequestStatus.CONFIRMED:
        raise NotAllowedFromHere("This device is confirmed already. Revoke it instead.")
    if waiting.status is not RequestStatus.WAITING:
        return
    await tx.run(DECIDE, organization_id, code_id, request, RequestStatus.REFUSED, at, by, None)
    await audit_log.record(tx, organization_id, SUBJECT, code_id, "device_refused", by=by, at=at, was=waiting.name)
    if code.devices == 1 and code.is_open(at):
        await close(tx, code, "refused", by=by, at=at)


async def _locked(
    tx: Tx, organization_id: UUID, mode: Mode, code_id: UUID, request: str
) -> tuple[PairingCode, _Waiting]:
    """The code first, then the request: asking takes them in this order too."""
    code = await lock_code(tx, organization_id, mode, code_id)
    waiting = await tx.one(_Waiting, LOCK, organization_id, code_id, request)
    if waiting is None:
        raise PairingNotFound
    return code, waiting


LOCK: Final = """
    SELECT public_key, name, app, status
      FROM pairing_request
     WHERE organization_id = $1
       AND code_id = $2
       AND request = $3
       FOR UPDATE
"""

END_OTHERS: Final = """
    UPDATE pairing_request
       SET status = 'ended', decided_at = $3, decided_by = $4
     WHERE organization_id = $1
       AND device_id = $2
       AND status = 'confirmed'
"""

DECIDE: Final = """
    UPDATE pairing_request
       SET status = $4, decided_at = $5, decided_by = $6, device_id = $7
     WHERE organization_id = $1
       AND code_id = $2
       AND request = $3
"""
