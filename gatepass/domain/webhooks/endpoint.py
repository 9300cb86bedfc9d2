"""An endpoint: where an organization is told of what happens, and whether it wants to be told now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from gatepass.base.refusals import InvalidRequest, Refusal
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.message import SUBSCRIBABLE

# What changes of an endpoint are noted under.
SUBJECT: Final = "webhook_endpoint"


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
    """Somebody asked for it; or the receiver said 410; or nothing has got through for too long."""

    REQUESTED = "requested"
    GONE = "gone"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Rotation:
    """A secret is replaced: when the new one takes over, and when the old one is no longer used."""

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
        """Scheme and host. The rest of a URL may hold a secret of its owner's, and is written down nowhere else."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def rotation(self, at: datetime) -> Rotation | None:
        """The rotation that is under way at this time."""
        if self.switches_at is None or self.retires_at is None or self.retires_at <= at:
            return None
        return Rotation(self.switches_at, self.retires_at)


def known_types(types: Sequence[str]) -> list[str]:
    """These types, each once, in the order given."""
    if not types:
        raise InvalidRequest("types: name at least one.", param="types")
    if unknown := [type for type in types if type not in SUBSCRIBABLE]:
        raise InvalidRequest(f"types: there is no type {unknown[0][:40]!r}.", param="types")
    return list(dict.fromkeys(types))
