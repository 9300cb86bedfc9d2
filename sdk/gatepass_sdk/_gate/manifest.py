"""The manifest of an event: every card that has a ticket, 8 bytes each, searched in place. No network is needed.

`SVCM`, the length of the header (4 bytes, big-endian), the header (JSON), the organization's signature (64 bytes), then
the records, sorted: 6 bytes of HMAC-SHA-256(salt, card number), 1 byte with the category, 1 with the flags. A manifest
names nobody, but a card number can be tried out against it: keep it encrypted, and delete it when it has expired.
"""

import hashlib
import hmac
import json
import struct
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, cast

from gatepass_sdk import _ed25519
from gatepass_sdk._decode import Unreadable
from gatepass_sdk._gate.manifest_header import Header, read_header

MAGIC: Final = b"SVCM"
SIGNED: Final = b"svc-manifest-1\0"
SIGNATURE: Final = 64
# A header has 50 categories of 50 gates at most. More is no header of ours.
LONGEST_HEADER: Final = 1_000_000
RECORD: Final = 8
HASH: Final = 6
NO_TICKET: Final = 255
USED: Final = 1
SUSPENDED: Final = 2
REVOKED: Final = 4
CANCELLED: Final = 8
# In changes: the card is not in the manifest any more. No card is suspended and revoked at once.
GONE: Final = bytes([NO_TICKET, USED | SUSPENDED | REVOKED | CANCELLED])


class InvalidManifest(ValueError):
    """Bytes that must not be used. `reason` says why, in one word."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The manifest cannot be used: {reason}.")
        self.reason = reason


@dataclass(frozen=True)
class Record:
    """What the manifest knows of a card. `category` is the index in the header, None without a ticket in use.

    `phone` is the number, 0 to 15, of the phone that makes its codes, and 0 if there is none.
    """

    category: int | None
    used: bool
    suspended: bool
    revoked: bool
    cancelled: bool
    phone: int

    @classmethod
    def of(cls, ending: bytes) -> "Record":
        category, flags = ending
        return cls(
            category=None if category == NO_TICKET else category,
            used=bool(flags & USED),
            suspended=bool(flags & SUSPENDED),
            revoked=bool(flags & REVOKED),
            cancelled=bool(flags & CANCELLED),
            phone=flags >> 4,
        )


@dataclass(frozen=True)
class Manifest:
    """A manifest that was verified. It is not changed: `apply` makes another one."""

    header: Header
    records: bytes

    @classmethod
    def read(cls, body: bytes, keys: Iterable[bytes], *, event_id: str | None = None) -> "Manifest":
        """Verify a whole manifest by the organization's public keys, as `GET /card/keys` has them."""
        header, records = _verified(body, keys, "manifest")
        if event_id is not None and header.event.id != event_id:
            raise InvalidManifest("wrong_event")
        if hashlib.sha256(records).hexdigest() != header.state:
            raise InvalidManifest("wrong_state")
        return cls(header, records)

    def find(self, card_number: str) -> Record | None:
        """What is known of this card; None if the event does not know it."""
        found = self._record(self.hash(card_number))
        return None if found is None else Record.of(found[HASH:])

    def hash(self, card_number: str) -> bytes:
        return hmac.digest(self.header.salt, card_number.encode(), "sha256")[:HASH]

    def is_expired(self, at: datetime) -> bool:
        return at >= self.header.expires_at

    def apply(self, body: bytes, keys: Iterable[bytes]) -> "Manifest":
        """The manifest after these changes, verified. If it raises InvalidManifest, fetch the whole manifest."""
        header, changed = _verified(body, keys, "changes")
        if header.event.id != self.header.event.id:
            raise InvalidManifest("wrong_event")
        if header.salt != self.header.salt:
            raise InvalidManifest("wrong_salt")
        records = _merged(self.records, changed)
        if hashlib.sha256(records).hexdigest() != header.state:
            raise InvalidManifest("wrong_state")
        return Manifest(header, records)

    def __len__(self) -> int:
        return len(self.records) // RECORD

    def _record(self, hash: bytes) -> bytes | None:
        at = _place(self.records, hash)
        return self.records[at : at + RECORD] if self.records[at : at + HASH] == hash else None


def is_whole(body: bytes) -> bool:
    """Whether this says that it is a whole manifest, and not changes. It is not verified."""
    (length,) = struct.unpack_from(">I", body.ljust(8, b"\0"), len(MAGIC))
    try:
        value: Any = json.loads(body[8 : 8 + min(length, LONGEST_HEADER)])
    except (ValueError, RecursionError):
        return True
    return not isinstance(value, dict) or cast("dict[str, Any]", value).get("kind") != "changes"


def _verified(body: bytes, keys: Iterable[bytes], kind: str) -> tuple[Header, bytes]:
    """The header and the records, if one of these keys signed them."""
    start = len(MAGIC) + 4
    if body[: len(MAGIC)] != MAGIC or len(body) < start:
        raise InvalidManifest("malformed")
    (length,) = struct.unpack_from(">I", body, len(MAGIC))
    end = start + length
    if length > LONGEST_HEADER or len(body) < end + SIGNATURE or (len(body) - end - SIGNATURE) % RECORD:
        raise InvalidManifest("malformed")
    raw, signature, records = body[start:end], body[end : end + SIGNATURE], body[end + SIGNATURE :]
    if not any(_ed25519.verify(key, SIGNED + raw, signature) for key in keys):
        raise InvalidManifest("bad_signature")
    header = _header(raw)
    if header.kind != kind:
        raise InvalidManifest("wrong_kind")
    if header.count * RECORD != len(records) or hashlib.sha256(records).hexdigest() != header.digest:
        raise InvalidManifest("wrong_digest")
    _require_order(records)
    return header, records


def _header(raw: bytes) -> Header:
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidManifest("malformed") from None
    if not isinstance(value, dict):
        raise InvalidManifest("malformed")
    header = cast("dict[str, Any]", value)
    if header.get("v") != 1:
        raise InvalidManifest("wrong_version")
    try:
        return read_header(header)
    except Unreadable:
        raise InvalidManifest("malformed") from None


def _require_order(records: bytes) -> None:
    """Ascending hashes, none twice: otherwise a search in place would miss what is there."""
    hashes = [records[at : at + HASH] for at in range(0, len(records), RECORD)]
    if any(one >= following for one, following in pairwise(hashes)):
        raise InvalidManifest("wrong_order")


def _merged(records: bytes, changed: bytes) -> bytes:
    """Replace the records with the same hash, add those that are new, drop those that are gone."""
    parts, reached = list[bytes](), 0
    for start in range(0, len(changed), RECORD):
        hash, ending = changed[start : start + HASH], changed[start + HASH : start + RECORD]
        at = _place(records, hash)
        parts.append(records[reached:at])
        reached = at + RECORD if records[at : at + HASH] == hash else at
        if ending != GONE:
            parts.append(hash + ending)
    return b"".join([*parts, records[reached:]])


def _place(records: bytes, hash: bytes) -> int:
    """Where the record of this hash begins, or would begin."""
    key = range(len(records) // RECORD)
    return RECORD * bisect_left(key, hash, key=lambda n: records[n * RECORD : n * RECORD + HASH])
