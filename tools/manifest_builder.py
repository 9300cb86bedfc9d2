"""Parts of manifests for `manifest_cases.py`: made by the service's own code, or bent and signed again."""

import hashlib
import hmac
import struct
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from nacl.signing import SigningKey

from gatepass.base.clock import rfc3339
from gatepass.base.wire_constants import MANIFEST_MAGIC, MANIFEST_SIGNED
from gatepass.domain.cards import PublicKey
from gatepass.domain.manifest import records
from gatepass.domain.manifest.content import Content, ManifestCategory, ManifestEvent
from gatepass.domain.manifest.header import Kind
from gatepass.domain.manifest.header import written as body_of

ORGANIZATION: Final = SigningKey(bytes(range(32)))
OLDER: Final = SigningKey(bytes(range(1, 33)))
STRANGER: Final = SigningKey(bytes(range(100, 132)))
EVENT_ID: Final = UUID("01a1dcb8-4b3a-708e-93f5-8fda83e65220")
OTHER_EVENT_ID: Final = UUID("01a1dcb8-4b3a-708e-93f5-8fda83e65221")
ENDS: Final = datetime(2030, 6, 15, 21, tzinfo=UTC)
NOW: Final = ENDS - timedelta(hours=2)
SALT: Final = bytes(range(32))
USUAL: Final = {"category": 0, "used": False, "suspended": False, "revoked": False, "cancelled": False, "phone": 0}
CURSOR: Final = "MS4xLjE"


def number(serial: int) -> str:
    return f"SVC 0000 0000 {serial:04d}"


def content(event_id: UUID = EVENT_ID, salt: bytes = SALT, **changes: Any) -> Content:
    event = ManifestEvent(
        event_id, "Summer Opening", ENDS - timedelta(hours=3), ENDS, "published", ENDS - timedelta(hours=4), "any",
        "manifest",
    )  # fmt: skip
    categories = (
        ManifestCategory(UUID(int=1), "General", "standard", None, None, None),
        ManifestCategory(UUID(int=2), "Évening — Ω", "vip", NOW, ENDS, ["North", "Gate “2”"]),
    )
    keys = [PublicKey(UUID(int=n), bytes(key.verify_key)) for n, key in ((11, ORGANIZATION), (12, OLDER))]
    return replace(Content(event, categories, tuple(keys), salt), **changes)


def record(card: str, *, salt: bytes = SALT, **facts: Any) -> bytes:
    """The record of a card, by the words of the format."""
    said = USUAL | facts
    flags = said["used"] | said["suspended"] << 1 | said["revoked"] << 2 | said["cancelled"] << 3 | said["phone"] << 4
    category = records.NO_TICKET if said["category"] is None else said["category"]
    return hashed(card, salt) + bytes([category, flags])


def hashed(card: str, salt: bytes = SALT) -> bytes:
    return hmac.new(salt, card.encode(), hashlib.sha256).digest()[:6]


def sent(known: dict[str, dict[str, Any]], salt: bytes = SALT) -> bytes:
    return b"".join(sorted(record(card, salt=salt, **facts) for card, facts in known.items()))


def manifest(all_records: bytes, of: Content | None = None, key: SigningKey = ORGANIZATION) -> bytes:
    state = records.digest(all_records)
    return body_of(Kind.MANIFEST, of or content(), all_records, state=state, cursor=CURSOR, key=key, at=NOW)


def changes(changed: bytes, after: bytes, of: Content | None = None, key: SigningKey = ORGANIZATION) -> bytes:
    state = records.digest(after)
    return body_of(Kind.CHANGES, of or content(), changed, state=state, cursor=CURSOR, key=key, at=NOW)


def parts(body: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """The header, the signature and the records of a good body."""
    (length,) = struct.unpack_from(">I", body, 4)
    return msgspec.json.decode(body[8 : 8 + length]), body[8 + length : 72 + length], body[72 + length :]


def signed(header: bytes, after: bytes, key: SigningKey = ORGANIZATION, context: bytes = MANIFEST_SIGNED) -> bytes:
    """A body with any header, signed."""
    signature = key.sign(context + header).signature
    return MANIFEST_MAGIC + struct.pack(">I", len(header)) + header + signature + after


def with_header(body: bytes, **fields: Any) -> bytes:
    """The same with other fields in the header, signed again. `...` leaves a field out."""
    header, _, after = parts(body)
    new = {name: value for name, value in (header | fields).items() if value is not ...}
    return signed(msgspec.json.encode(new), after)


def case(
    name: str, body: bytes, reason: str | None, *, found: dict[str, Any] | None = None, at: datetime = NOW, **more: Any
) -> dict[str, Any]:
    followed: list[bytes] = more.pop("changes", [])
    return {
        "name": name,
        "manifest": b64encode(body).decode(),
        "changes": [b64encode(one).decode() for one in followed],
        "event_id": str(EVENT_ID),
        "at": rfc3339(at),
        "reason": reason,
        "found": found or {},
    }
