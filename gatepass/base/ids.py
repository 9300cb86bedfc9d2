"""Identifiers: UUIDv7 inside, so that rows made together lie together; a prefix outside.

They are made as the driver makes them: a `uuid.UUID` in C, which a scan, making five, is glad of.
"""

import re
from typing import Final
from uuid import UUID

from asyncpg.pgproto import pgproto
from uuid_utils import uuid7

REQUEST_PREFIX: Final = "req_"
CANONICAL: Final = re.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def new_id() -> UUID:
    return pgproto.UUID(uuid7().bytes)


def id_of(raw: bytes) -> UUID:
    return pgproto.UUID(raw)


def request_text(id: UUID) -> str:
    return REQUEST_PREFIX + id.hex


def strict_uuid(text: str) -> UUID | None:
    """The UUID written in its one canonical form, upper case forgiven; `uuid.UUID` takes braces and urns too."""
    return pgproto.UUID(text) if CANONICAL.fullmatch(text) else None
