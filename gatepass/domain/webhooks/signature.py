"""Signing a message: the header of the contract, and those of Standard Webhooks, from one secret.

`t` is fresh on each attempt; what is signed is what is sent, byte for byte.
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from gatepass.base.wire_name import (
    ATTEMPT_HEADER,
    DELIVERY_HEADER,
    EVENT_HEADER,
    NEXT_SIGNATURE_HEADER,
    REPLAY_HEADER,
    SIGNATURE_HEADER,
)
from gatepass.domain.webhooks.message import written_id

SECRET_PREFIX: Final = "whsec_"  # noqa: S105  what secrets begin with
SECRET_BYTES: Final = 32

# A secret, opened or sealed.
Box = TypeVar("Box", str, bytes)


class Secrets(msgspec.Struct, frozen=True):
    """The secret that signs, and while it is rotated the other one."""

    signing: str
    other: str | None = None


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def chosen(
    old: Box, new: Box | None, *, switches_at: datetime | None, retires_at: datetime | None, at: datetime
) -> tuple[Box, Box | None]:
    """Which secret signs now, and which beside it: the old one until the switch, then the new one, in the end alone."""
    if new is None or switches_at is None or retires_at is None:
        return old, None
    if at < switches_at:
        return old, new
    return (new, old) if at < retires_at else (new, None)


def headers(
    secrets: Secrets,
    body: bytes,
    *,
    event_id: UUID,
    type: str,
    delivery_id: UUID,
    attempt: int,
    replayed: bool,
    at: datetime,
) -> dict[str, str]:
    """Everything that a delivery says about itself, signed at this moment."""
    milliseconds = int(at.timestamp() * 1000)
    id, seconds = written_id(event_id), milliseconds // 1000
    content = f"{id}.{seconds}.".encode() + body
    said = {
        "content-type": "application/json",
        EVENT_HEADER: type,
        SIGNATURE_HEADER: _signature(secrets.signing, milliseconds, body),
        DELIVERY_HEADER: str(delivery_id),
        ATTEMPT_HEADER: str(attempt),
        "webhook-id": id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": _standard(secrets.signing, content),
    }
    if secrets.other is not None:
        said[NEXT_SIGNATURE_HEADER] = _signature(secrets.other, milliseconds, body)
        said["webhook-signature"] += " " + _standard(secrets.other, content)
    if replayed:
        said[REPLAY_HEADER] = "1"
    return said


def _signature(secret: str, milliseconds: int, body: bytes) -> str:
    """As the contract says: the whole secret is the key."""
    signed = hmac.digest(secret.encode(), str(milliseconds).encode() + b"." + body, "sha256")
    return f"t={milliseconds},v1={signed.hex()}"


def _standard(secret: str, content: bytes) -> str:
    """As Standard Webhooks says: the key is what the secret encodes."""
    signed = hmac.digest(b64decode(secret.removeprefix(SECRET_PREFIX)), content, "sha256")
    return "v1," + b64encode(signed).decode()
