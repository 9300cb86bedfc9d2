"""Messages: the feed, and the headers with which one is delivered."""

import hmac
import json
from base64 import b64decode, b64encode
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass_sdk.testing._http import Reply, Request
from gatepass_sdk.testing._paging import cursor_of, page_size, read_cursor
from gatepass_sdk.testing._state import World
from gatepass_sdk.webhooks import sign

SECRET: Final = "whsec_"  # noqa: S105  what secrets begin with


def list_messages(world: World, request: Request) -> Reply:
    """The feed, oldest first."""
    limit, text = page_size(request), request.query.get("after")
    start = (0, UUID(int=0)) if text is None else read_cursor(text, "after")
    messages = world.sides[request.mode].messages
    found = [message for message in messages if (message.number, message.id) > start]
    page = found[:limit]
    end = (page[-1].number, page[-1].id) if page else (len(messages) + 1, UUID(int=0))
    data = [json.loads(message.body) for message in page]
    return Reply(200, {"data": data, "has_more": len(found) > limit, "next_cursor": cursor_of(*end)})


def delivery_headers(body: bytes, secret: str, other: str | None, *, delivery_id: UUID, at: datetime) -> dict[str, str]:
    """All headers of a delivery, signed at this time."""
    content, seconds = json.loads(body), int(at.timestamp())
    headers = {
        "content-type": "application/json",
        "x-svc-event": content["type"],
        "x-svc-signature": sign(body, secret, at=at.timestamp()),
        "x-svc-delivery": str(delivery_id),
        "x-svc-attempt": "1",
        "webhook-id": content["id"],
        "webhook-timestamp": str(seconds),
        "webhook-signature": _standard_signature(secret, content["id"], seconds, body),
    }
    if other is not None:
        headers["x-svc-signature-next"] = sign(body, other, at=at.timestamp())
        headers["webhook-signature"] += " " + _standard_signature(other, content["id"], seconds, body)
    return headers


def _standard_signature(secret: str, id: str, seconds: int, body: bytes) -> str:
    """As in Standard Webhooks: the key is the decoded secret."""
    signed = hmac.digest(b64decode(secret.removeprefix(SECRET)), f"{id}.{seconds}.".encode() + body, "sha256")
    return "v1," + b64encode(signed).decode()
