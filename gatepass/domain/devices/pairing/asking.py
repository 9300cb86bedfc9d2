"""A device asks to be paired: it has a code, and sends its public key and a name.

A code for one device that a second key uses may have been seen by a stranger. Nobody can tell which of the two is the
lead's own, so both are turned away, and the lead is told. A device that was confirmed already keeps its key.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gatepass.base.client_ip import Address
from gatepass.base.database import Tx
from gatepass.domain import security_log
from gatepass.domain.cell import new_token
from gatepass.domain.devices.device import require_public_key, required_app, required_name
from gatepass.domain.devices.pairing.codes import SUBJECT, PairingCode, close, code_hash
from gatepass.domain.devices.pairing.requests import RequestStatus, two_words

# Refused requests leave room for others. This bounds what one code can store.
REQUESTS_PER_DEVICE: Final = 4
CONTESTED: Final = "contested"


@dataclass(frozen=True, slots=True)
class Asked:
    request: str
    words: list[str]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _Earlier:
    request: str
    public_key: bytes
    words: list[str]
    status: RequestStatus


async def ask(
    tx: Tx,
    code: str,
    public_key: bytes,
    name: str,
    app: str | None,
    *,
    cell: str,
    address: Address | None,
    at: datetime,
) -> Asked | None:
    """The request of this device; None if the code is unknown, late or used up. The same key gets the same request.

    It does not raise for a code that ends now: the transaction must commit, so that it stays ended.
    """
    name, app = required_name(name), None if app is None else required_app(app)
    require_public_key(public_key)
    found = await tx.one(PairingCode, FIND, code_hash(code), at)
    if found is None:
        return None
    earlier = await tx.all(_Earlier, EARLIER, found.organization_id, found.id)
    for one in earlier:
        if one.public_key == public_key:
            return Asked(one.request, one.words, found.expires_at)
    if not await _has_room(tx, found, earlier, at):
        return None
    return await _store(tx, found, code, public_key, name, app, cell=cell, address=address, at=at)


async def _has_room(tx: Tx, code: PairingCode, earlier: list[_Earlier], at: datetime) -> bool:
    taken = [one for one in earlier if one.status in (RequestStatus.WAITING, RequestStatus.CONFIRMED)]
    if len(taken) < code.devices and len(earlier) < code.devices * REQUESTS_PER_DEVICE:
        return True
    if code.devices == 1 and taken:
        await security_log.record(
            tx,
            [code.organization_id],
            SUBJECT,
            code.id,
            CONTESTED,
            by=security_log.NOBODY,
            at=at,
            reason="two devices used a code for one",
        )
        await close(tx, code, CONTESTED, by=security_log.NOBODY, at=at)
    return False


async def _store(
    tx: Tx,
    code: PairingCode,
    text: str,
    public_key: bytes,
    name: str,
    app: str | None,
    *,
    cell: str,
    address: Address | None,
    at: datetime,
) -> Asked:
    request = new_token(cell)
    words = two_words(text, public_key, request)
    await tx.run(ASK, code.organization_id, code.id, request, public_key, name, app, words, address, at)
    return Asked(request, words, code.expires_at)


FIND: Final = """
    -- every organization: the code determines which one
    SELECT organization_id, id, mode, event_id, gate, devices, made_at, made_by, expires_at, ended_at, ended_reason
      FROM pairing_code
     WHERE code_hash = $1
       AND expires_at > $2
       AND ended_at IS NULL
       FOR UPDATE
"""

EARLIER: Final = """
    SELECT request, public_key, words, status
      FROM pairing_request
     WHERE organization_id = $1
       AND code_id = $2
"""

ASK: Final = """
    INSERT INTO pairing_request (organization_id, code_id, request, public_key, name, app, words, address, asked_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
