"""The body of an answer: `SVCM`, the length of the header, the header, its signature, and the records.

The organization's signing key signs `svc-manifest-1`, a zero byte, and the bytes of the header, which has the digest of
the records. Nothing else that the key signs begins like that.
"""

import struct
from base64 import urlsafe_b64encode
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec
from nacl.signing import SigningKey

from gatepass.base.clock import rfc3339
from gatepass.base.wire_constants import MANIFEST_MAGIC, MANIFEST_SIGNED
from gatepass.domain.manifest import records
from gatepass.domain.manifest.content import Content, ManifestCategory, ManifestEvent

VERSION: Final = 1


class Kind(StrEnum):
    MANIFEST = "manifest"
    CHANGES = "changes"


def written(
    kind: Kind, content: Content, sent: bytes, *, state: str, cursor: str, key: SigningKey, at: datetime
) -> bytes:
    """The body. `state` is the digest of all records, once these are applied."""
    header = msgspec.json.encode(_header(kind, content, sent, state=state, cursor=cursor, at=at))
    signature = key.sign(MANIFEST_SIGNED + header).signature
    return b"".join([MANIFEST_MAGIC, struct.pack(">I", len(header)), header, signature, sent])


def _header(kind: Kind, content: Content, sent: bytes, *, state: str, cursor: str, at: datetime) -> dict[str, Any]:
    return {
        "v": VERSION,
        "kind": kind,
        "event": _event(content.event),
        "salt": _base64url(content.salt),
        "categories": [_category(index, one) for index, one in enumerate(content.categories)],
        "card_keys": [{"kid": str(key.id), "public_key": _base64url(key.public_key)} for key in content.keys],
        "kid": str(content.keys[0].id),
        "issued_at": rfc3339(at),
        "expires_at": rfc3339(content.expires_at),
        "count": len(sent) // records.SIZE,
        "digest": records.digest(sent),
        "state": state,
        "cursor": cursor,
    }


def _event(event: ManifestEvent) -> dict[str, Any]:
    return {
        "id": str(event.id),
        "title": event.title,
        "starts_at": rfc3339(event.starts_at),
        "ends_at": rfc3339(event.ends_at),
        "status": event.status,
        "doors_open_at": _moment(event.doors_open_at),
        "codes": event.codes,
        "offline": event.offline,
    }


def _category(index: int, category: ManifestCategory) -> dict[str, Any]:
    return {
        "index": index,
        "name": category.name,
        "tier": category.tier,
        "valid_from": _moment(category.valid_from),
        "valid_until": _moment(category.valid_until),
        "gates": category.gates,
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
