"""/webhooks/{id}/deliveries: the deliveries of an endpoint, sent or pending, with their attempts."""

from enum import StrEnum
from typing import Annotated, Any, Self, TypeVar
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field, PlainSerializer

from gatepass.api.auth import State
from gatepass.api.routes.webhook_schemas import TAG, Id, Reader, webhook_id
from gatepass.api.schemas import Data, Moment, Page, Wire, next_page, page_size, page_start
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import webhooks
from gatepass.domain.webhooks import (
    AttemptMade,
    Delivery,
    DeliveryNotFound,
    DeliveryStatus,
    Endpoint,
    MessageType,
    written_id,
)

router = APIRouter(tags=[TAG])

# They are stored as 4-byte floats, of which Python would show too many digits.
Milliseconds = Annotated[float, PlainSerializer(lambda value: round(value, 2), return_type=float)]
Choice = TypeVar("Choice", bound=StrEnum)


class DeliveryOut(Wire):
    id: UUID
    event_id: str = Field(pattern="^evt_[0-9a-f]{32}$")
    type: MessageType
    status: DeliveryStatus
    attempts: int
    next_attempt_at: Moment | None
    last_status: int | None
    last_error: str | None
    created_at: Moment
    ended_at: Moment | None
    replay_id: UUID | None

    @classmethod
    def of(cls, delivery: Delivery, endpoint: Endpoint, **more: Any) -> Self:
        status = delivery.status(endpoint)
        return cls(
            id=delivery.id,
            event_id=written_id(delivery.event_id),
            type=MessageType(delivery.type),
            status=status,
            attempts=delivery.attempts,
            next_attempt_at=delivery.next_at if status is DeliveryStatus.PENDING else None,
            last_status=delivery.last_status,
            last_error=delivery.last_error,
            created_at=delivery.at,
            ended_at=delivery.ended_at,
            replay_id=delivery.replay_id,
            **more,
        )


class AttemptOut(Wire):
    n: int
    at: Moment
    status: int | None
    error: str | None
    address: str | None
    dns_ms: Milliseconds | None
    connect_ms: Milliseconds | None
    answer_ms: Milliseconds | None
    total_ms: Milliseconds
    answer_head: str | None

    @classmethod
    def of(cls, attempt: AttemptMade) -> Self:
        return cls(
            n=attempt.n,
            at=attempt.at,
            status=attempt.status,
            error=attempt.error,
            address=attempt.address,
            dns_ms=attempt.dns_ms,
            connect_ms=attempt.connect_ms,
            answer_ms=attempt.answer_ms,
            total_ms=attempt.total_ms,
            answer_head=attempt.answer_head,
        )


class DeliveryDetailOut(DeliveryOut):
    attempts_made: list[AttemptOut]
    body: str | None


@router.get("/webhooks/{id}/deliveries")
async def list_deliveries(
    caller: Reader,
    state: State,
    response: Response,
    id: Id,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
    status: Annotated[str | None, Query(description="Only those with this status.")] = None,
    type: Annotated[str | None, Query(description="Only those of this type.")] = None,
) -> Page[DeliveryOut]:
    """The deliveries of an endpoint, newest first."""
    endpoint_id = webhook_id(id)
    wanted, kind = _one_of(DeliveryStatus, status, "status"), _one_of(MessageType, type, "type")
    async with state.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, caller.organization_id, caller.mode, endpoint_id)
        found, place = await webhooks.deliveries_of(
            tx, caller.organization_id, endpoint, status=wanted, type=kind, after=after, limit=limit
        )
    url = f"{state.settings.base_url}/webhooks/{endpoint_id}/deliveries"
    cursor = next_page(response, url, limit, place, status=wanted, type=kind)
    data = [DeliveryOut.of(delivery, endpoint) for delivery in found]
    return Page(data=data, has_more=place is not None, next_cursor=cursor)


@router.get("/webhooks/{id}/deliveries/{delivery_id}")
async def delivery(
    caller: Reader, state: State, id: Id, delivery_id: Annotated[str, Path(description="The delivery's UUID.")]
) -> Data[DeliveryDetailOut]:
    """One delivery, with every attempt and the body."""
    endpoint_id, wanted = webhook_id(id), strict_uuid(delivery_id)
    async with state.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, caller.organization_id, caller.mode, endpoint_id)
        if wanted is None:
            raise DeliveryNotFound
        found = await webhooks.find_delivery(tx, caller.organization_id, endpoint, wanted)
        attempts = await webhooks.attempts_of(tx, caller.organization_id, found)
        body = await webhooks.body_of(tx, caller.organization_id, endpoint, found)
    return Data(
        data=DeliveryDetailOut.of(
            found,
            endpoint,
            attempts_made=[AttemptOut.of(attempt) for attempt in attempts],
            body=None if body is None else body.decode(),
        )
    )


def _one_of(kind: type[Choice], text: str | None, name: str) -> Choice | None:
    try:
        return None if text is None else kind(text)
    except ValueError:
        raise InvalidRequest(f"{name} is one of {', '.join(kind)}.", param=name) from None
