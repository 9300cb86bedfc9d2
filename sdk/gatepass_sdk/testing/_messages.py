"""Messages: written down for the feed and for every endpoint that asks for their type, and signed on request."""

import hmac
import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from gatepass_sdk.testing._asked import Asked, Reply
from gatepass_sdk.testing._deliveries import address
from gatepass_sdk.testing._pages import packed, page_size, read_cursor
from gatepass_sdk.testing._times import rfc3339
from gatepass_sdk.webhooks import sign

if TYPE_CHECKING:
    from gatepass_sdk.testing._world import Side, World

SECRET: Final = "whsec_"  # noqa: S105  what secrets begin with


@dataclass(frozen=True)
class Message:
    """`number` is its place in the feed."""

    id: UUID
    number: int
    type: str
    at: datetime
    body: bytes


def tell(
    world: "World",
    side: "Side",
    type: str,
    data: Mapping[str, Any],
    *,
    id: UUID | None = None,
    endpoint_id: UUID | None = None,
) -> Message | None:
    """Write a message down. Denials are told only where an endpoint asks for them."""
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
    message = Message(id, len(side.messages) + 1, type, at, json.dumps(content, separators=(",", ":")).encode())
    side.messages.append(message)
    for endpoint in side.endpoints:
        if endpoint.id == endpoint_id if endpoint_id is not None else type in endpoint.types:
            address(world, side, endpoint, message)
    return message


def list_messages(world: "World", asked: Asked) -> Reply:
    """The feed, oldest first."""
    limit, text = page_size(asked), asked.query.get("after")
    start = (0, UUID(int=0)) if text is None else read_cursor(text, "after")
    told = world.sides[asked.mode].messages
    found = [message for message in told if (message.number, message.id) > start]
    page = found[:limit]
    mark = (page[-1].number, page[-1].id) if page else (len(told) + 1, UUID(int=0))
    data = [json.loads(message.body) for message in page]
    return Reply(200, {"data": data, "has_more": len(found) > limit, "next_cursor": packed(*mark)})


def headers_of(body: bytes, secret: str, other: str | None, *, delivery_id: UUID, at: datetime) -> dict[str, str]:
    """Everything that a delivery says about itself, signed at this moment."""
    content, seconds = json.loads(body), int(at.timestamp())
    said = {
        "content-type": "application/json",
        "x-svc-event": content["type"],
        "x-svc-signature": sign(body, secret, at=at.timestamp()),
        "x-svc-delivery": str(delivery_id),
        "x-svc-attempt": "1",
        "webhook-id": content["id"],
        "webhook-timestamp": str(seconds),
        "webhook-signature": _standard(secret, content["id"], seconds, body),
    }
    if other is not None:
        said["x-svc-signature-next"] = sign(body, other, at=at.timestamp())
        said["webhook-signature"] += " " + _standard(other, content["id"], seconds, body)
    return said


def _standard(secret: str, id: str, seconds: int, body: bytes) -> str:
    """As Standard Webhooks says: the key is what the secret encodes."""
    signed = hmac.digest(b64decode(secret.removeprefix(SECRET)), f"{id}.{seconds}.".encode() + body, "sha256")
    return "v1," + b64encode(signed).decode()
