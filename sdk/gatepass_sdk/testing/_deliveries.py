"""Deliveries. Every receiver seems to answer 200 between one request and the next."""

from typing import Final
from uuid import UUID

from gatepass_sdk.testing._body_reader import read_uuid
from gatepass_sdk.testing._endpoints import TYPES, endpoint_id, find_endpoint
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._paging import page_of, page_size, page_start
from gatepass_sdk.testing._state import DeliveryRecord, EndpointRecord, Side, World

STATUSES: Final = ("pending", "delivered", "held", "failed")
LISTED_TYPES: Final = (*TYPES, "webhook.ping")


def list_deliveries(world: World, request: Request) -> Reply:
    """Newest first."""
    size_and_start, side = (page_size(request), page_start(request)), world.sides[request.mode]
    endpoint_id(request)
    status, kind = request.query.get("status"), request.query.get("type")
    for name, value, known in (("status", status, STATUSES), ("type", kind, LISTED_TYPES)):
        if value is not None and value not in known:
            raise invalid(f"{name} is one of {', '.join(known)}.", name)
    endpoint = find_endpoint(world, request)
    found = [
        one
        for one in side.deliveries
        if one.endpoint is endpoint and status in (None, one.status) and kind in (None, one.message.type)
    ]
    return page_of(
        request,
        found,
        lambda one: one.position,
        DeliveryRecord.shown,
        size_and_start,
        newest_first=True,
        filters={"status": status, "type": kind},
    )


def retrieve_delivery(world: World, request: Request) -> Reply:
    side = world.sides[request.mode]
    endpoint = find_endpoint(world, request)
    return Reply(200, {"data": find_delivery(side, endpoint, read_uuid(request.ids[1])).detail()})


def find_delivery(side: Side, endpoint: EndpointRecord, id: UUID | None) -> DeliveryRecord:
    for delivery in side.deliveries:
        if delivery.endpoint is endpoint and delivery.id == id:
            return delivery
    raise Refused("delivery_not_found")
