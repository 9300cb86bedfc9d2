"""Endpoints: the URLs to which an organization has messages sent.

Gates read these rows at each scan. They never lock them, so a change of an endpoint makes no gate wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.ids import new_id
from gatepass.base.paging import START, Place
from gatepass.domain import audit_log
from gatepass.domain.keys import Mode
from gatepass.domain.organizations import require_not_suspended
from gatepass.domain.webhooks.message import SUBSCRIBABLE
from gatepass.domain.webhooks.signature import issue_secret
from gatepass.domain.webhooks.url_policy import require_allowed

# The subject of audit entries about endpoints.
SUBJECT: Final = "webhook_endpoint"
# Of one organization, both modes together: each message is written once for every subscribed endpoint.
MOST: Final = 16


class WebhookNotFound(Refusal):
    """There is no such webhook endpoint."""

    code = "webhook_not_found"


class TooManyEndpoints(Refusal):
    """An organization has at most 16 webhook endpoints. Delete one first."""

    code = "too_many_endpoints"


class EndpointStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"


class PausedReason(StrEnum):
    """Requested by a person; 410 Gone from the receiver; failing for 72 hours; or its organization is suspended."""

    REQUESTED = "requested"
    GONE = "gone"
    FAILING = "failing"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class Rotation:
    """A secret is being replaced: when the new one signs first, and when the old one retires."""

    switches_at: datetime
    retires_at: datetime


@dataclass(frozen=True, slots=True)
class Endpoint:
    id: UUID
    mode: Mode
    url: str
    types: list[str]
    description: str | None
    status: EndpointStatus
    paused_reason: str | None
    switches_at: datetime | None
    retires_at: datetime | None
    created_at: datetime
    failing_since: datetime | None

    @property
    def is_paused(self) -> bool:
        return self.status is EndpointStatus.PAUSED

    @property
    def origin(self) -> str:
        """Scheme and host. The rest of a URL may contain a secret, and is stored nowhere else."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def rotation(self, at: datetime) -> Rotation | None:
        """The rotation that is in progress at this time."""
        if self.switches_at is None or self.retires_at is None or self.retires_at <= at:
            return None
        return Rotation(self.switches_at, self.retires_at)


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
    """A new endpoint, and its secret, which is shown only this once."""
    url, types = require_allowed(url, allow_private=allow_private), known_types(types)
    await tx.run(ONE_AT_A_TIME, organization_id)
    await require_not_suspended(tx, organization_id)
    if await tx.value(COUNT, organization_id) >= MOST:
        raise TooManyEndpoints
    endpoint_id = new_id()
    secret = issue_secret(vault, organization_id, endpoint_id)
    await tx.run(CREATE, organization_id, endpoint_id, mode, url, types, description, secret.sealed, at, by)
    endpoint = await find_endpoint(tx, organization_id, mode, endpoint_id)
    becomes = f"{mode} {endpoint.origin}"
    await audit_log.record(tx, organization_id, SUBJECT, endpoint_id, "created", by=by, at=at, becomes=becomes)
    return endpoint, secret.text


async def find_endpoint(tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID) -> Endpoint:
    found = await tx.one(Endpoint, FIND, organization_id, mode, endpoint_id)
    if found is None:
        raise WebhookNotFound
    return found


async def lock_endpoint(tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID) -> Endpoint:
    """The endpoint, locked against changes until this transaction ends."""
    found = await tx.one(Endpoint, LOCK, organization_id, mode, endpoint_id)
    if found is None:
        raise WebhookNotFound
    return found


async def endpoints_of(tx: Tx, organization_id: UUID, mode: Mode, *, after: Place | None, limit: int) -> list[Endpoint]:
    """Endpoints in the order of creation, at most `limit`."""
    place = after or START
    return await tx.all(Endpoint, PAGE, organization_id, mode, place.at, place.id, limit)


def known_types(types: Sequence[str]) -> list[str]:
    """These types without duplicates, in the same order."""
    if not types:
        raise InvalidRequest("types: name at least one.", param="types")
    if unknown := [type for type in types if type not in SUBSCRIBABLE]:
        raise InvalidRequest(f"types: there is no type {unknown[0][:40]!r}.", param="types")
    return list(dict.fromkeys(types))


# Serializes the creation of endpoints. Rows that only reference the organization do not wait for this lock.
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

COLUMNS: Final = """
           id, mode, url, types, description, status, paused_reason, switches_at, retires_at, created_at, failing_since
"""

FIND: Final = "SELECT " + COLUMNS + """
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
       AND deleted_at IS NULL
"""  # fmt: skip

LOCK: Final = FIND + " FOR NO KEY UPDATE"

PAGE: Final = "SELECT " + COLUMNS + """
      FROM webhook_endpoint
     WHERE organization_id = $1
       AND mode = $2
       AND deleted_at IS NULL
       AND (created_at, id) > ($3, $4)
     ORDER BY created_at, id
     LIMIT $5
"""  # fmt: skip
