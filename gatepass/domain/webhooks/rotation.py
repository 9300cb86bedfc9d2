"""The rotation of a secret in two steps, so that a receiver never has to switch at the same moment as we do.

First the new secret signs beside the old one, in a header of its own. Then they switch places, on request or after a
day. A day later the old one is no longer used.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.endpoints import SUBJECT, Endpoint, find_endpoint, lock_endpoint
from gatepass.domain.webhooks.signature import issue_secret

# How long a receiver has for each step.
STEP: Final = timedelta(hours=24)


async def rotate_secret(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, vault: Vault, *, by: str, at: datetime
) -> tuple[Endpoint, str]:
    """Issue a new secret beside the old one. A new secret that has not taken over yet is replaced."""
    rotation = (await lock_endpoint(tx, organization_id, mode, endpoint_id)).rotation(at)
    if rotation is not None and rotation.switches_at <= at:
        until = rfc3339(rotation.retires_at)
        raise NotAllowedFromHere(f"The secret before this one is in use until {until}. Rotate again after that.")
    secret = issue_secret(vault, organization_id, endpoint_id)
    await tx.run(ISSUE, organization_id, endpoint_id, secret.sealed, at + STEP, at + 2 * STEP, at)
    await audit_log.record(tx, organization_id, SUBJECT, endpoint_id, "secret issued", by=by, at=at)
    return await find_endpoint(tx, organization_id, mode, endpoint_id), secret.text


async def switch_secret(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, *, by: str, at: datetime
) -> Endpoint:
    """Let the new secret take over now. If it already has, nothing changes."""
    rotation = (await lock_endpoint(tx, organization_id, mode, endpoint_id)).rotation(at)
    if rotation is None:
        raise NotAllowedFromHere("There is no new secret to switch to. Issue one first.")
    if rotation.switches_at > at:
        await tx.run(SWITCH, organization_id, endpoint_id, at, at + STEP)
        await audit_log.record(tx, organization_id, SUBJECT, endpoint_id, "secret switched", by=by, at=at)
    return await find_endpoint(tx, organization_id, mode, endpoint_id)


# After a finished rotation the new secret is the only one in use.
ISSUE: Final = """
    UPDATE webhook_endpoint
       SET sealed_secret = CASE WHEN retires_at <= $6 THEN sealed_new_secret ELSE sealed_secret END,
           sealed_new_secret = $3,
           switches_at = $4,
           retires_at = $5
     WHERE organization_id = $1
       AND id = $2
"""

SWITCH: Final = """
    UPDATE webhook_endpoint
       SET switches_at = $3, retires_at = $4
     WHERE organization_id = $1
       AND id = $2
"""
