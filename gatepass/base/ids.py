"""Identifiers: UUIDv7 inside, so that rows made together lie together; a prefix outside."""

from typing import Final
from uuid import UUID

from uuid_utils.compat import uuid7

REQUEST_PREFIX: Final = "req_"


def new_id() -> UUID:
    return uuid7()


def request_text(id: UUID) -> str:
    return REQUEST_PREFIX + id.hex


def strict_uuid(text: str) -> UUID | None:
    """The UUID written in its one canonical form, upper case forgiven; `uuid.UUID` takes braces and urns too."""
    if len(text) != 36 or text[8] != "-" or text[13] != "-" or text[18] != "-" or text[23] != "-":
        return None
    digits = text.replace("-", "")
    if len(digits) != 32 or not digits.isascii() or not digits.isalnum():
        return None
    try:
        return UUID(hex=digits)
    except ValueError:
        return None
