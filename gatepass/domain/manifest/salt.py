"""The salt of an event's manifest, and HMAC-SHA-256 in two halves, for PostgreSQL, which has SHA-256 alone.

A number can be tried out against any hash, salted or not: a manifest is personal data. The salt keeps manifests of two
events apart, and can be drawn again when two cards have the same hash.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx

LENGTH: Final = 32
# Of SHA-256 (RFC 2104).
BLOCK: Final = 64


@dataclass(frozen=True, slots=True)
class Pads:
    """HMAC(salt, text) = SHA-256(outer + SHA-256(inner + text))."""

    inner: bytes
    outer: bytes

    @classmethod
    def of(cls, salt: bytes) -> "Pads":
        key = salt.ljust(BLOCK, b"\0")
        return cls(bytes(byte ^ 0x36 for byte in key), bytes(byte ^ 0x5C for byte in key))


async def draw(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> None:
    """Give the event a salt, if it has none."""
    await tx.run(DRAW, organization_id, event_id, secrets.token_bytes(LENGTH), at)


async def draw_again(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> None:
    """Replace a salt under which two cards have the same hash. Two processes that both do so cost one manifest more."""
    await tx.run(DRAW_AGAIN, organization_id, event_id, secrets.token_bytes(LENGTH), at)


DRAW: Final = """
    INSERT INTO event_manifest (organization_id, event_id, salt, drawn_at)
    SELECT e.organization_id, e.id, $3, $4
      FROM event e
     WHERE e.organization_id = $1
       AND e.id = $2
    ON CONFLICT (organization_id, event_id) DO NOTHING
"""

DRAW_AGAIN: Final = """
    UPDATE event_manifest
       SET salt = $3, drawn_at = $4
     WHERE organization_id = $1
       AND event_id = $2
"""
