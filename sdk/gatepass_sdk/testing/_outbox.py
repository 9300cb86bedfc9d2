"""The outbox: a message, and one delivery of it for each endpoint that subscribes to its type."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from gatepass_sdk.testing._state import DeliveryRecord, EndpointRecord, MessageRecord, Side, World
from gatepass_sdk.testing._times import rfc3339


def emit(
    world: World,
    side: Side,
    type: str,
    data: Mapping[str, Any],
    *,
    id: UUID | None = None,
    endpoint_id: UUID | None = None,
) -> MessageRecord | None:
    """Write a message. A `scan.denied` is written only if an endpoint subscribes to it."""
    if type == "scan.denied" and not any(type in endpoint.types for endpoint in side.endpoints):
        return None
    at, id = world.now(), id or world.new_id()
    content = {
        "id": f"evt_{id.hex}",
        "type": type,
        "organization_id": str(world.organization_id),
        "created_at": rfc3339(at),
        "data": data,
    }
    message = MessageRecord(id, len(side.messages) + 1, type, at, json.dumps(content, separators=(",", ":")).encode())
    side.messages.append(message)
    for endpoint in side.endpoints:
        if endpoint.id == endpoint_id if endpoint_id is not None else type in endpoint.types:
            side.deliveries.append(_delivery(world, endpoint, message))
    return message


def delivery_id_of(*parts: str) -> UUID:
    """An id that follows from other ids."""
    return UUID(hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest())


def _delivery(world: World, endpoint: EndpointRecord, message: MessageRecord) -> DeliveryRecord:
    return DeliveryRecord(delivery_id_of(str(message.id), str(endpoint.id)), endpoint, message, world.now())
