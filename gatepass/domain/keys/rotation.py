"""Rotating a key: a new key like it is issued, and both are valid for a while, so that callers can switch."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import security_log
from gatepass.domain.keys.issuance import IssuedKey, issue
from gatepass.domain.keys.key import Mode
from gatepass.domain.keys.listing import lock_key
from gatepass.domain.organizations import require_not_suspended


class Overlap(StrEnum):
    """How long the old key stays valid."""

    NONE = "now"
    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"


DURATIONS: Final[dict[Overlap, timedelta]] = {
    Overlap.NONE: timedelta(),
    Overlap.HOUR: timedelta(hours=1),
    Overlap.DAY: timedelta(hours=24),
    Overlap.WEEK: timedelta(days=7),
}


async def rotate(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    key_id: UUID,
    *,
    overlap: Overlap,
    expires_at: datetime | None,
    cell: str,
    by: str,
    at: datetime,
) -> IssuedKey:
    """Issue a key with the name, scopes, networks and rate of this one, which expires when the overlap ends."""
    await require_not_suspended(tx, organization_id)  # before the key's lock, which suspending takes second
    old = await lock_key(tx, organization_id, mode, key_id)
    if not old.is_usable(at):
        raise NotAllowedFromHere("A key that has ended cannot be rolled. Make a new one.")
    new = await issue(
        tx,
        organization_id,
        old.name,
        mode,
        old.scopes,
        cell=cell,
        by=by,
        at=at,
        expires_at=expires_at,
        allowed_networks=old.allowed_networks,
        rate_per_second=old.rate_per_second,
        burst=old.burst,
    )
    ends = at + DURATIONS[overlap]
    ends = min(ends, old.expires_at) if old.expires_at is not None else ends
    await tx.run(END, organization_id, key_id, ends)
    was = "no expiry" if old.expires_at is None else f"expires {rfc3339(old.expires_at)}"
    becomes = f"expires {rfc3339(ends)}, replaced by {new.id}"
    await security_log.record(tx, [organization_id], "key", key_id, "rolled", by=by, at=at, was=was, becomes=becomes)
    return new


END: Final = """
    UPDATE api_key
       SET expires_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
