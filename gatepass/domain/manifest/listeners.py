"""Which devices may go on following an event: a stream outlives the check of the key that opened it."""

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx


async def open_keys(
    tx: Tx, organization_id: UUID, event_id: UUID, key_ids: Collection[UUID], *, at: datetime
) -> set[UUID]:
    """Those of these keys that still open this event. The organization is the owner of the devices."""
    return {row["id"] for row in await tx.rows(OPEN_KEYS, organization_id, event_id, list(key_ids), at)}


# The key of a device that was retired has no scope.
OPEN_KEYS: Final = """
    SELECT k.id
      FROM api_key k
     WHERE k.organization_id = $1
       AND k.event_id = $2
       AND k.id = ANY ($3)
       AND k.revoked_at IS NULL
       AND (k.expires_at IS NULL OR k.expires_at > $4)
       AND k.scopes && '{events:read}'
"""
