"""Making endpoints and finding them.

Gates read these rows at each scan. They never lock them, so whoever changes one makes no gate wait.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.paging import START, Place
from gatepass.base.vault import Vault
from gatepass.domain import changes
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.destination import require_allowed
from gatepass.domain.webhooks.endpoint import SUBJECT, Endpoint, TooManyEndpoints, WebhookNotFound, known_types
from gatepass.domain.webhooks.secrets import issue_secret

# Of one organization, both modes together: each message is written once for every endpoint that asks for it.
MOST: Final = 16


async def create_endpoint(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    vault: Vault,
    *,
    url: str,
    types: Sequence[str],
    description: str | None,
    allow_private: bool,
    by: str,
    at: datetime,
) -> tuple[Endpoint, str]:
    """A new endpoint, and its secret, which nobody is told again."""
    url, types = require_allowed(url, allow_private=allow_private), known_types(types)
    await tx.run(ONE_AT_A_TIME, organization_id)
    if await tx.value(COUNT, organization_id) >= MOST:
        raise TooManyEndpoints
    endpoint_id = new_id()
    secret = issue_secret(vault, organization_id, endpoint_id)
    await tx.run(CREATE, organization_id, endpoint_id, mode, url, types, description, secret.sealed, at, by)
    endpoint = await find_endpoint(tx, organization_id, mode, endpoint_id)
    becomes = f"{mode} {endpoint.origin}"
    await changes.note(tx, organization_id, SUBJECT, endpoint_id, "created", by=by, at=at, becomes=becomes)
    return endpoint, secret.text


async def find_endpoint(tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID) -> Endpoint:
    found = await tx.one(Endpoint, FIND, organization_id, mode, endpoint_id)
    if found is None:
        raise WebhookNotFound
    return found


async def lock_endpoint(tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID) -> Endpoint:
    """The endpoint, which nobody else changes until this transaction ends."""
    found = await tx.one(Endpoint, LOCK, organization_id, mode, endpoint_id)
    if found is None:
        raise WebhookNotFound
    return found


async def endpoints_of(tx: Tx, organization_id: UUID, mode: Mode, *, after: Place | None, limit: int) -> list[Endpoint]:
    """Endpoints in the order in which they were made, at most `limit`."""
    place = after or START
    return await tx.all(Endpoint, PAGE, organization_id, mode, place.at, place.id, limit)


# Two that create at once take turns. Rows that only refer to the organization do not wait for this lock.
ONE_AT_A_TIME: Final = "SELECT true FROM organization WHERE id = $1 FOR NO KEY UPDATE"

COUNT: Final = """
    SELECT count(*)
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND deleted_at IS NULL
"""

CREATE: Final = """
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, description, sealed_secret, created_at,
                                  created_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""

FIND: Final = """
    SELECT id, mode, url, types, description, status, paused_reason, switches_at, retires_at, created_at, failing_since
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
       AND deleted_at IS NULL
"""

LOCK: Final = """
    SELECT id, mode, url, types, description, status, paused_reason, switches_at, retires_at, created_at, failing_since
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
       AND deleted_at IS NULL
       FOR NO KEY UPDATE
"""

PAGE: Final = """
    SELECT id, mode, url, types, description, status, paused_reason, switches_at, retires_at, created_at, failing_since
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND mode = $2
       AND deleted_at IS NULL
       AND (created_at, id) > ($3, $4)
     ORDER BY created_at, id
     LIMIT $5
"""
