"""Signatures of messages, and the secrets that sign: our own header, and those of Standard Webhooks, from one secret.

`t` is new for each attempt. The signed bytes are the bytes that are sent.
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID

import msgspec

from gatepass.base.encryption import Vault
from gatepass.base.wire_constants import (
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

# A secret, decrypted (str) or sealed (bytes).
Secret = TypeVar("Secret", str, bytes)


class Secrets(msgspec.Struct, frozen=True):
    """The secret that signs and, during a rotation, the other one."""

    signing: str
    other: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class IssuedSecret:
    """A new secret: as text, which its owner sees only once, and sealed, as it is stored."""

    text: str
    sealed: bytes


def issue_secret(vault: Vault, organization_id: UUID, endpoint_id: UUID) -> IssuedSecret:
    text = new_secret()
    return IssuedSecret(text, vault.seal(text.encode(), secret_context(organization_id, endpoint_id)))


def secret_context(organization_id: UUID, endpoint_id: UUID) -> str:
    """The encryption context, which binds a secret to its row. The old and the new secret have the same."""
    return f"webhook_endpoint {organization_id} {endpoint_id}"


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def chosen(
    old: Secret, new: Secret | None, *, switches_at: datetime | None, retires_at: datetime | None, at: datetime
) -> tuple[Secret, Secret | None]:
    """The secret that signs now, and the one beside it: old and new, after the switch new and old, in the end new."""
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
    """All headers of a delivery, signed at this time."""
    milliseconds = int(at.timestamp() * 1000)
    id, seconds = written_id(event_id), milliseconds // 1000
    content = f"{id}.{seconds}.".encode() + body
    found = {
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
        found[NEXT_SIGNATURE_HEADER] = _signature(secrets.other, milliseconds, body)
        found["webhook-signature"] += " " + _standard(secrets.other, content)
    if replayed:
        found[REPLAY_HEADER] = "1"
    return found


def _signature(secret: str, milliseconds: int, body: bytes) -> str:
    """Our own scheme: the whole secret is the key."""
    signed = hmac.digest(secret.encode(), str(milliseconds).encode() + b"." + body, "sha256")
    return f"t={milliseconds},v1={signed.hex()}"


def _standard(secret: str, content: bytes) -> str:
    """Standard Webhooks: the key is the decoded secret."""
    signed = hmac.digest(b64decode(secret.removeprefix(SECRET_PREFIX)), content, "sha256")
    return "v1," + b64encode(signed).decode()
