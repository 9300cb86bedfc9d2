"""The keys of devices. They are API keys that open one event, and work for one gate.

The row of the key has the assignment too, so that the statement of a scan reads no other table: a device that was moved
or ended is found by the very next request, on every process. `domain/devices` calls these verbs in the transaction that
changes the device, and `domain/events` in the one that changes when its event ends.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import twin
from gatepass.domain.keys.issuance import IssuedKey
from gatepass.domain.keys.key import DeviceAssignment, Mode, Scope, digest, make_key
from gatepass.domain.organizations import require_not_suspended

DEVICE_SCOPES: Final = (Scope.CARDS_VERIFY, Scope.EVENTS_READ, Scope.TICKETS_ACTIVATE)
# A journal that was kept without a network may come in so long after the end of the event. FOLLOW says it in SQL.
KEPT: Final = timedelta(hours=72)


async def issue_device_key(
    tx: Tx, organization_id: UUID, mode: Mode, device: DeviceAssignment, name: str, *, cell: str, by: str, at: datetime
) -> IssuedKey:
    """Make the key of a device; the one that it had before ends. It lives as long as its event, and 72 hours more."""
    await require_not_suspended(tx, organization_id)
    await revoke_device_keys(tx, organization_id, device.device_id, by=by, at=at)
    key = IssuedKey(new_id(), make_key(mode, cell))
    await tx.run(
        ISSUE,
        organization_id,
        key.id,
        digest(key.text),
        mode,
        name,
        key.text[-4:],
        list(DEVICE_SCOPES),
        at,
        by,
        device.device_id,
        device.event_id,
        device.gate,
        _tenant(organization_id, mode),
    )
    return key


async def assign_device_keys(tx: Tx, organization_id: UUID, mode: Mode, device: DeviceAssignment) -> None:
    """Let the key of a device work for this event and gate, and for no other, from the next request on."""
    await tx.run(
        ASSIGN, organization_id, device.device_id, device.event_id, device.gate, _tenant(organization_id, mode)
    )


async def retire_device_keys(tx: Tx, organization_id: UUID, device_id: UUID, *, at: datetime) -> None:
    """Leave the key of a device without a scope: it opens nothing but the upload, for 72 hours at most."""
    await tx.run(RETIRE, organization_id, device_id, at + KEPT)


async def revoke_device_keys(tx: Tx, organization_id: UUID, device_id: UUID, *, by: str, at: datetime) -> None:
    await tx.run(REVOKE, organization_id, device_id, at, by)


async def follow_event(tx: Tx, tenant_id: UUID, event_id: UUID) -> None:
    """After an event's end was changed: the keys of its devices end 72 hours after the new one."""
    mode = Mode.SANDBOX if twin.is_twin(tenant_id) else Mode.LIVE
    await tx.run(FOLLOW, twin.owner_of(tenant_id), mode, event_id, tenant_id)


def _tenant(organization_id: UUID, mode: Mode) -> UUID:
    return organization_id if mode is Mode.LIVE else twin.twin_id(organization_id)


ISSUE: Final = """
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by,
                         device_id, event_id, gate, expires_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, coalesce(e.ended_at, e.ends_at) + interval '72 hours'
      FROM event e
     WHERE e.organization_id = $13
       AND e.id = $11
"""

# While the organization is suspended, a key keeps its own expiry in `resumed_expires_at`.
ASSIGN: Final = """
    UPDATE api_key k
       SET event_id = e.id,
           gate = $4,
           expires_at = CASE WHEN k.resumed_expires_at IS NULL
                             THEN coalesce(e.ended_at, e.ends_at) + interval '72 hours' ELSE k.expires_at END,
           resumed_expires_at = CASE WHEN k.resumed_expires_at IS NOT NULL
                                     THEN coalesce(e.ended_at, e.ends_at) + interval '72 hours' END
      FROM event e
     WHERE k.organization_id = $1
       AND k.device_id = $2
       AND k.revoked_at IS NULL
       AND e.organization_id = $5
       AND e.id = $3
"""

RETIRE: Final = """
    UPDATE api_key
       SET scopes = '{}',
           expires_at = least(expires_at, $3),
           resumed_expires_at = least(resumed_expires_at, CASE WHEN resumed_expires_at IS NOT NULL THEN $3 END)
     WHERE organization_id = $1
       AND device_id = $2
       AND revoked_at IS NULL
"""

REVOKE: Final = """
    UPDATE api_key
       SET revoked_at = $3, revoked_by = $4
     WHERE organization_id = $1
       AND device_id = $2
       AND revoked_at IS NULL
"""

# The key of a retired device has no scope, and an end of its own.
FOLLOW: Final = """
    UPDATE api_key k
       SET expires_at = CASE WHEN k.resumed_expires_at IS NULL
                             THEN coalesce(e.ended_at, e.ends_at) + interval '72 hours' ELSE k.expires_at END,
           resumed_expires_at = CASE WHEN k.resumed_expires_at IS NOT NULL
                                     THEN coalesce(e.ended_at, e.ends_at) + interval '72 hours' END
      FROM event e
     WHERE k.organization_id = $1
       AND k.mode = $2
       AND k.event_id = $3
       AND k.device_id IS NOT NULL
       AND k.revoked_at IS NULL
       AND k.scopes <> '{}'
       AND e.organization_id = $4
       AND e.id = $3
"""
