"""A webhook endpoint: where an integrator is told of what happens, and whether it wants to be told now."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from gatepass_sdk.testing._asked import Asked, Refused, invalid
from gatepass_sdk.testing._bodies import read_uuid
from gatepass_sdk.testing._pages import Place
from gatepass_sdk.testing._times import rfc3339

if TYPE_CHECKING:
    from gatepass_sdk.testing._world import World

TYPES: Final = ("ticket.activated", "ticket.cancelled", "event.cancelled", "card.status_changed", "scan.denied")


@dataclass
class Endpoint:
    id: UUID
    mode: str
    url: str
    types: list[str]
    description: str | None
    secret: str
    created_at: datetime
    is_paused: bool = False
    new_secret: str | None = None
    switches_at: datetime | None = None
    retires_at: datetime | None = None

    @property
    def place(self) -> Place:
        return self.created_at, self.id

    def rotation(self, at: datetime) -> dict[str, str] | None:
        """The rotation that is under way at this time."""
        if self.switches_at is None or self.retires_at is None or self.retires_at <= at:
            return None
        return {"switches_at": rfc3339(self.switches_at), "retires_at": rfc3339(self.retires_at)}

    def shown(self, at: datetime, **more: str | None) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "mode": self.mode,
            "url": self.url,
            "types": self.types,
            "description": self.description,
            "status": "paused" if self.is_paused else "active",
            "paused_reason": "requested" if self.is_paused else None,
            "failing_since": None,
            "rotation": self.rotation(at),
            "created_at": rfc3339(self.created_at),
            **more,
        }


def new_secret(id: UUID) -> str:
    """Shaped as the service's own, and the same in every run: nothing here is secret."""
    return "whsec_" + b64encode(hashlib.sha256(id.bytes).digest()).decode()


def known_types(types: Sequence[str]) -> list[str]:
    """These types, each once, in the order given."""
    if unknown := [type for type in types if type not in TYPES]:
        raise invalid(f"types: there is no type {unknown[0][:40]!r}.", "types")
    return list(dict.fromkeys(types))


def endpoint_id(asked: Asked) -> UUID:
    found = read_uuid(asked.ids[0])
    if found is None:
        raise Refused("webhook_not_found")
    return found


def find_endpoint(world: "World", asked: Asked) -> Endpoint:
    wanted = endpoint_id(asked)
    for endpoint in world.sides[asked.mode].endpoints:
        if endpoint.id == wanted:
            return endpoint
    raise Refused("webhook_not_found")
