"""Suspending, resuming and closing an organization.

A suspended organization's keys have expired for as long as it lasts: the statement of a scan checks the expiry anyway,
so that every process refuses the very next call, and a scan costs nothing more. Its endpoints are paused, so that
messages are held. Both get back what they had when the organization is resumed.

A closed organization is suspended too, its keys are revoked for good, and maintenance erases it when its time has come.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import security_log
from gatepass.domain.organizations import SUBJECT

# Long enough to notice a mistake, and to fetch an export. Webhook bodies are kept as long.
KEPT: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Suspended:
    """How many keys and endpoints it concerned."""

    keys: int
    endpoints: int


@dataclass(frozen=True, slots=True)
class _State:
    suspended_at: datetime | None
    closed_at: datetime | None


async def suspend(tx: Tx, organization_id: UUID, *, reason: str, by: str, at: datetime) -> Suspended:
    """Refuse its keys from the next call on, and hold its messages. The reason is shown in its studio."""
    state = await _locked(tx, organization_id)
    if state.suspended_at is not None:
        raise NotAllowedFromHere("It is closed already." if state.closed_at else "It is suspended already.")
    await tx.run(SUSPEND, organization_id, at, reason)
    done = Suspended(await tx.run(EXPIRE_KEYS, organization_id), await tx.run(PAUSE_ENDPOINTS, organization_id))
    await security_log.record(tx, [organization_id], SUBJECT, organization_id, "suspended", by=by, at=at, reason=reason)
    return done


async def resume(tx: Tx, organization_id: UUID, *, by: str, at: datetime) -> Suspended:
    """Undo a suspension, or a closure that is not due yet. Keys that a closure has revoked stay revoked."""
    state = await _locked(tx, organization_id)
    if state.suspended_at is None:
        raise NotAllowedFromHere("It is not suspended.")
    await tx.run(RESUME, organization_id)
    done = Suspended(await tx.run(RESTORE_KEYS, organization_id), await tx.run(RESUME_ENDPOINTS, organization_id))
    was = "closed" if state.closed_at else "suspended"
    await security_log.record(tx, [organization_id], SUBJECT, organization_id, "resumed", by=by, at=at, was=was)
    return done


async def close(
    tx: Tx, organization_id: UUID, *, reason: str, by: str, at: datetime, keep: timedelta = KEPT
) -> Suspended:
    """Revoke its keys, hold its messages, and let maintenance erase it after `keep`. Closing again sets another day."""
    await _locked(tx, organization_id)
    erase_at = at + keep
    await tx.run(CLOSE, organization_id, at, reason, erase_at)
    await tx.run(RESTORE_KEYS, organization_id)
    done = Suspended(await tx.run(REVOKE_KEYS, organization_id, at, by), await tx.run(PAUSE_ENDPOINTS, organization_id))
    await security_log.record(
        tx, [organization_id], SUBJECT, organization_id, "closed", by=by, at=at, reason=reason,
        becomes=f"erased after {erase_at:%Y-%m-%d}",
    )  # fmt: skip
    return done


async def _locked(tx: Tx, organization_id: UUID) -> _State:
    """Its state, locked: whoever makes a key or an endpoint right now is waited for, and found below."""
    state = await tx.one(_State, LOCK, organization_id)
    if state is None:
        raise NotAllowedFromHere("It is erased.")
    return state


LOCK: Final = """
    SELECT suspended_at, closed_at
      FROM organization
     WHERE id = $1
       FOR NO KEY UPDATE
"""

SUSPEND: Final = """
    UPDATE organization
       SET suspended_at = $2, suspended_reason = $3
     WHERE id = $1
"""

RESUME: Final = """
    UPDATE organization
       SET suspended_at = NULL, suspended_reason = NULL, closed_at = NULL, erase_at = NULL
     WHERE id = $1
"""

CLOSE: Final = """
    UPDATE organization
       SET suspended_at = coalesce(suspended_at, $2), suspended_reason = $3, closed_at = $2, erase_at = $4
     WHERE id = $1
"""

# 1970, and not now: the clock of a process may be behind.
EXPIRE_KEYS: Final = """
    UPDATE api_key
       SET resumed_expires_at = coalesce(expires_at, 'infinity'), expires_at = 'epoch'
     WHERE organization_id = $1
       AND revoked_at IS NULL
       AND resumed_expires_at IS NULL
"""

RESTORE_KEYS: Final = """
    UPDATE api_key
       SET expires_at = nullif(resumed_expires_at, 'infinity'), resumed_expires_at = NULL
     WHERE organization_id = $1
       AND resumed_expires_at IS NOT NULL
"""

REVOKE_KEYS: Final = """
    UPDATE api_key
       SET revoked_at = $2, revoked_by = $3
     WHERE organization_id = $1
       AND revoked_at IS NULL
"""

# An endpoint that was paused before keeps its own reason, and stays paused.
PAUSE_ENDPOINTS: Final = """
    UPDATE webhook_endpoint
       SET status = 'paused', paused_reason = 'suspended'
     WHERE organization_id = $1
       AND status = 'active'
       AND deleted_at IS NULL
"""

RESUME_ENDPOINTS: Final = """
    UPDATE webhook_endpoint
       SET status = 'active', paused_reason = NULL, failures = 0, failing_since = NULL, blocked_until = NULL
     WHERE organization_id = $1
       AND status = 'paused'
       AND paused_reason = 'suspended'
       AND deleted_at IS NULL
"""
