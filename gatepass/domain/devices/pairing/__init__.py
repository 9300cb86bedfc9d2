"""Pairing: a lead shows a code, a device asks with it, both screens show two words, the lead confirms.

The practice is that of RFC 10027 (cross-device flows): the code is short-lived and for one gate, it is never the
credential, what is confirmed is named on both screens, and the key goes to nobody but the device that signed for it.
"""

from gatepass.domain.devices.pairing.asking import Asked, ask
from gatepass.domain.devices.pairing.codes import (
    LIFE,
    MOST_DEVICES,
    MadeCode,
    PairingCode,
    canonical_code,
    delete_some_old,
    end_code,
    find_code,
    make_code,
    open_codes,
    written_code,
)
from gatepass.domain.devices.pairing.deciding import confirm, refuse
from gatepass.domain.devices.pairing.fetching import Fetched, Signed, fetch
from gatepass.domain.devices.pairing.requests import (
    InvalidSignature,
    PairingEnded,
    PairingNotFound,
    PairingRequest,
    RequestStatus,
    requests_of,
)

__all__ = [
    "LIFE",
    "MOST_DEVICES",
    "Asked",
    "Fetched",
    "InvalidSignature",
    "MadeCode",
    "PairingCode",
    "PairingEnded",
    "PairingNotFound",
    "PairingRequest",
    "RequestStatus",
    "Signed",
    "ask",
    "canonical_code",
    "confirm",
    "delete_some_old",
    "end_code",
    "fetch",
    "find_code",
    "make_code",
    "open_codes",
    "refuse",
    "requests_of",
    "written_code",
]
