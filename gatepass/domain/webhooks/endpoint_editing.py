"""Changing an endpoint, pausing and resuming it, and deleting it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from gatepass.base.database import Tx
from gatepass.domain import audit_log
from gatepass.domain.keys import Mode
from gatepass.domain.organizations import require_not_suspended
from gatepass.domain.webhooks.endpoints import (
    SUBJECT,
    Endpoint,
    EndpointStatus,
    PausedReason,
    find_endpoint,
    known_types,
    lock_endpoint,
)
from gatepass.domain.webhooks.url_policy import require_allowed


async def change_endpoint(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    endpoint_id: UUID,
    *,
    url: str | UnsetType = UNSET,
    types: Sequence[str] | UnsetType = UNSET,
    description: str | UnsetType | None = UNSET,
    status: EndpointStatus | UnsetType = UNSET,
    allow_private: bool,
    by: str,
    at: datetime,
) -> Endpoint:
    """Change the given fields, and no others."""
    given: dict[str, Any] = {}
    if url is not UNSET:
        given["url"] = require_allowed(url, allow_private=allow_private)
    if types is not UNSET:
        given["types"] = known_types(types)
    if description is not UNSET:
        given["description"] = description
    if status is EndpointStatus.ACTIVE:  # before the endpoint's lock, which suspending takes second
        await require_not_suspended(tx, organization_id)
    was = await lock_endpoint(tx, organization_id, mode, endpoint_id)
    if status is not UNSET and status is not was.status:  # one that is paused keeps its reason
        given |= {"status": status, "paused_reason": PausedReason.REQUESTED if not was.is_paused else None}
    becomes = replace(was, **given)
    if becomes != was:
        await _write(tx, organization_id, was, becomes)
        await _record_changes(tx, organization_id, was, becomes, by=by, at=at)
    return await find_endpoint(tx, organization_id, mode, endpoint_id)


async def delete_endpoint(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, *, by: str, at: datetime
) -> None:
    """End its replays and erase its secrets. Maintenance clears its queue."""
    was = await lock_endpoint(tx, organization_id, mode, endpoint_id)
    await tx.run(DELETE, organization_id, endpoint_id, at)
    await tx.run(END_REPLAYS, organization_id, endpoint_id, at)
    before = f"{mode} {was.origin}"
    await audit_log.record(tx, organization_id, SUBJECT, endpoint_id, "deleted", by=by, at=at, was=before)


async def _write(tx: Tx, organization_id: UUID, was: Endpoint, becomes: Endpoint) -> None:
    """Write the change. Earlier failures are reset for another URL, and when a paused endpoint is resumed."""
    resets_failures = becomes.url != was.url or (was.is_paused and not becomes.is_paused)
    await tx.run(
        CHANGE,
        organization_id,
        was.id,
        becomes.url,
        becomes.types,
        becomes.description,
        becomes.status,
        becomes.paused_reason,
        resets_failures,
    )


async def _record_changes(
    tx: Tx, organization_id: UUID, was: Endpoint, becomes: Endpoint, *, by: str, at: datetime
) -> None:
    """One audit entry for each field that changed. The text of a description is not repeated."""
    lines = (
        ("url changed", becomes.url != was.url, was.origin, becomes.origin),
        ("types changed", becomes.types != was.types, " ".join(was.types), " ".join(becomes.types)),
        ("description changed", becomes.description != was.description, None, None),
        ("paused" if becomes.is_paused else "resumed", becomes.status is not was.status, was.status, becomes.status),
    )
    for action, changed, before, after in lines:
        if changed:
            await audit_log.record(
                tx, organization_id, SUBJECT, was.id, action, by=by, at=at, was=before, becomes=after
            )


CHANGE: Final = """
    UPDATE webhook_endpoint
       SET url = $3,
           types = $4,
           description = $5,
           status = $6,
           paused_reason = $7,
           failures = CASE WHEN $8 THEN 0 ELSE failures END,
           failing_since = CASE WHEN $8 THEN NULL ELSE failing_since END,
           blocked_until = CASE WHEN $8 THEN NULL ELSE blocked_until END
     WHERE organization_id = $1
       AND id = $2
"""

DELETE: Final = """
    UPDATE webhook_endpoint
       SET deleted_at = $3, sealed_secret = '', sealed_new_secret = NULL, switches_at = NULL, retires_at = NULL
     WHERE organization_id = $1
       AND id = $2
"""

END_REPLAYS: Final = """
    UPDATE webhook_replay
       SET ended_at = $3
     WHERE organization_id = $1
       AND endpoint_id = $2
       AND ended_at IS NULL
"""
