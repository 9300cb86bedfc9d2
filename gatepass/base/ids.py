"""Identifiers: UUIDv7 inside, so that rows made together lie together; a prefix outside.

They are of the driver's class, a `uuid.UUID` in C, because it is faster and a scan makes five.
"""

import hashlib
import re
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec
from asyncpg.pgproto import pgproto
from uuid_utils import uuid7

from gatepass.base.clock import EPOCH

REQUEST_PREFIX: Final = "req_"
REQUEST: Final = re.compile(REQUEST_PREFIX + "([0-9a-f]{32})")
CANONICAL: Final = re.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def new_id() -> UUID:
    return pgproto.UUID(uuid7().bytes)


def id_of(raw: bytes) -> UUID:
    return pgproto.UUID(raw)


def digest_of(*parts: object) -> UUID:
    """128 bits of SHA-256 over the texts of these values. A collision harms only who looked for it."""
    texts = [None if part is None else str(part) for part in parts]
    return id_of(hashlib.sha256(msgspec.json.encode(texts)).digest()[:16])


def request_text(id: UUID) -> str:
    return REQUEST_PREFIX + id.hex


def request_id(text: str) -> UUID | None:
    """The id in `req_…`, as `request_text` writes it."""
    found = REQUEST.fullmatch(text)
    return pgproto.UUID(found[1]) if found else None


def moment_of(id: UUID) -> datetime | None:
    """When a UUIDv7 was made, to the millisecond; None if it is no UUIDv7."""
    try:
        return EPOCH + timedelta(milliseconds=id.int >> 80) if id.version == 7 else None
    except OverflowError:
        return None


def strict_uuid(text: str) -> UUID | None:
    """The UUID in its canonical form, in either case; `uuid.UUID` would take braces and URNs too."""
    return pgproto.UUID(text) if CANONICAL.fullmatch(text) else None
