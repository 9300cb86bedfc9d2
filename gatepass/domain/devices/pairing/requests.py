"""Requests to be paired: a device, its public key, and the two words that both screens show."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.client_ip import Address
from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.domain.devices.device import DeviceStatus
from gatepass.domain.devices.pairing.words import WORDS

WORDS_CONTEXT: Final = b"svc-words-1"


class PairingNotFound(Refusal):
    """There is no such pairing. The code may have expired or been used: ask for another one."""

    code = "pairing_not_found"


class PairingEnded(Refusal):
    """This pairing was refused, or is over. Ask for another code."""

    code = "pairing_ended"


class InvalidSignature(Refusal):
    """The signature is not valid, or was used already."""

    code = "invalid_signature"


class RequestStatus(StrEnum):
    WAITING = "waiting"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    # The code ended first: two devices used a code for one, or a lead ended it.
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class PairingRequest:
    """A request as a lead sees it. `known_as` is the device's name if its key was paired before."""

    request: str
    name: str
    app: str | None
    words: list[str]
    address: Address | None
    asked_at: datetime
    status: RequestStatus
    decided_at: datetime | None
    device_id: UUID | None
    has_key: bool
    known_as: str | None
    known_status: DeviceStatus | None


def two_words(code: str, public_key: bytes, request: str) -> list[str]:
    """What both screens show. The device computes them too: who stands between would show others."""
    digest = hashlib.sha256(b"\0".join((WORDS_CONTEXT, code.encode(), public_key, request.encode()))).digest()
    return [WORDS[digest[0]], WORDS[digest[1]]]


async def requests_of(tx: Tx, organization_id: UUID, code_id: UUID) -> list[PairingRequest]:
    """Everything that asked with this code, in that order."""
    return await tx.all(PairingRequest, OF_CODE, organization_id, code_id)


OF_CODE: Final = """
    SELECT r.request, r.name, r.app, r.words, r.address, r.asked_at, r.status, r.decided_at, r.device_id,
           r.fetched_at IS NOT NULL AS has_key, d.name AS known_as, d.status AS known_status
      FROM pairing_request r
      JOIN pairing_code c ON c.organization_id = r.organization_id AND c.id = r.code_id
      LEFT JOIN device d ON d.organization_id = r.organization_id
                        AND d.mode = c.mode
                        AND d.public_key = r.public_key
     WHERE r.organization_id = $1
       AND r.code_id = $2
     ORDER BY r.asked_at, r.request
"""
