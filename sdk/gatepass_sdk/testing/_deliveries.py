"""Deliveries, as if every receiver answered 200 between one request and the next."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from gatepass_sdk.testing._asked import Asked, Refused, Reply, invalid
from gatepass_sdk.testing._bodies import read_uuid
from gatepass_sdk.testing._endpoint import TYPES, Endpoint, endpoint_id, find_endpoint
from gatepass_sdk.testing._pages import Place, page_of, page_size, page_start
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

if TYPE_CHECKING:
    from gatepass_sdk.testing._messages import Message
    from gatepass_sdk.testing._world import Side, World

STATUSES: Final = ("pending", "delivered", "held", "failed")
LISTED_TYPES: Final = (*TYPES, "webhook.ping")


@dataclass
class Delivery:
    id: UUID
    endpoint: Endpoint
    message: "Message"
    at: datetime
    ended_at: datetime | None = None
    replay_id: UUID | None = None

    @property
    def place(self) -> Place:
        return self.at, self.id

    @property
    def status(self) -> str:
        if self.ended_at is not None:
            return "delivered"
        return "held" if self.endpoint.is_paused else "pending"

    def shown(self) -> dict[str, Any]:
        sent = self.ended_at is not None
        return {
            "id": str(self.id),
            "event_id": f"evt_{self.message.id.hex}",
            "type": self.message.type,
            "status": self.status,
            "attempts": 1 if sent else 0,
            "next_attempt_at": rfc3339(self.at) if self.status == "pending" else None,
            "last_status": 200 if sent else None,
            "last_error": None,
            "created_at": rfc3339(self.at),
            "ended_at": maybe_rfc3339(self.ended_at),
            "replay_id": None if self.replay_id is None else str(self.replay_id),
        }

    def detail(self) -> dict[str, Any]:
        attempt: dict[str, Any] = {
            "n": 1,
            "at": maybe_rfc3339(self.ended_at),
            "status": 200,
            "error": None,
            "address": None,
        }
        attempt |= {"dns_ms": None, "connect_ms": None, "answer_ms": 1.0, "total_ms": 1.0, "answer_head": ""}
        made = [] if self.ended_at is None else [attempt]
        return {**self.shown(), "attempts_made": made, "body": self.message.body.decode()}


def address(world: "World", side: "Side", endpoint: Endpoint, message: "Message") -> Delivery:
    """A delivery of this message to this endpoint; its id follows from theirs."""
    delivery = Delivery(delivery_id_of(str(message.id), str(endpoint.id)), endpoint, message, world.now())
    side.deliveries.append(delivery)
    return delivery


def list_deliveries(world: "World", asked: Asked) -> Reply:
    """Newest first."""
    size_and_start, side = (page_size(asked), page_start(asked)), world.sides[asked.mode]
    endpoint_id(asked)
    status, kind = asked.query.get("status"), asked.query.get("type")
    for name, value, known in (("status", status, STATUSES), ("type", kind, LISTED_TYPES)):
        if value is not None and value not in known:
            raise invalid(f"{name} is one of {', '.join(known)}.", name)
    endpoint = find_endpoint(world, asked)
    found = [
        one
        for one in side.deliveries
        if one.endpoint is endpoint and status in (None, one.status) and kind in (None, one.message.type)
    ]
    filters = {"status": status, "type": kind}
    return page_of(asked, found, _place, Delivery.shown, size_and_start, newest_first=True, filters=filters)


def retrieve_delivery(world: "World", asked: Asked) -> Reply:
    side = world.sides[asked.mode]
    endpoint = find_endpoint(world, asked)
    return Reply(200, {"data": find_delivery(side, endpoint, read_uuid(asked.ids[1])).detail()})


def find_delivery(side: "Side", endpoint: Endpoint, id: UUID | None) -> Delivery:
    for delivery in side.deliveries:
        if delivery.endpoint is endpoint and delivery.id == id:
            return delivery
    raise Refused("delivery_not_found")


def _place(one: Delivery) -> Place:
    return one.place


def delivery_id_of(*parts: str) -> UUID:
    return UUID(hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest())
