"""What needs attention before it hurts: endpoints that fail, and API keys in use that end soon."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx

MOST: Final = 20


class AttentionKind(StrEnum):
    ENDPOINT = "endpoint"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Attention:
    """`since` is when an endpoint began to fail, or when a key ends."""

    kind: AttentionKind
    mode: str
    id: UUID
    name: str
    since: datetime


async def needed(tx: Tx, organization_id: UUID, *, at: datetime) -> list[Attention]:
    """In both modes, the live ones first."""
    return await tx.all(Attention, NEEDED, organization_id, at, MOST)


# The conditions of both, where $2 is now; a session counts them for the menu. A key that was used in the last 30 days
# and ends in the next 14 will be missed; that of a device ends with its event, as it should.
FAILING: Final = " w.deleted_at IS NULL AND w.failing_since IS NOT NULL"
ENDING: Final = """ k.revoked_at IS NULL
               AND k.device_id IS NULL
               AND k.expires_at > $2
               AND k.expires_at <= $2 + interval '14 days'
               AND k.last_used_at >= $2 - interval '30 days'"""

NEEDED: Final = (
    """
    SELECT *
      FROM (SELECT 'endpoint' AS kind, w.mode, w.id, w.url AS name, w.failing_since AS since
              FROM webhook_endpoint w
             WHERE w.organization_id = $1
               AND"""
    + FAILING
    + """
             UNION ALL
            SELECT 'key', k.mode, k.id, k.name, k.expires_at
              FROM api_key k
             WHERE k.organization_id = $1
               AND"""
    + ENDING
    + """) found
     ORDER BY mode, kind, since
     LIMIT $3
"""
)
