"""Deliveries: what an endpoint was sent or is still to be sent, and how that went."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import END, START, Place
from gatepass.base.refusals import Refusal
from gatepass.domain.webhooks.endpoint import Endpoint
from gatepass.domain.webhooks.queue import State

# A page with a filter looks through so many and no more, however rare what it asks for is.
LOOKED_THROUGH: Final = 10_000
# More than a delivery is ever attempted.
MOST_ATTEMPTS: Final = 100
# How far the clocks of two machines may be apart.
SKEW: Final = timedelta(minutes=1)


class DeliveryNotFound(Refusal):
    """There is no such delivery at this endpoint."""

    code = "delivery_not_found"


class DeliveryStatus(StrEnum):
    """As it is kept, but that what is pending is held while its endpoint is paused."""

    PENDING = "pending"
    DELIVERED = "delivered"
    HELD = "held"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Delivery:
    at: datetime
    id: UUID
    event_txid: int
    event_id: UUID
    event_at: datetime
    type: str
    ordering_key: UUID
    state: State
    attempts: int
    next_at: datetime | None
    ended_at: datetime | None
    last_status: int | None
    last_error: str | None
    replay_id: UUID | None

    def status(self, endpoint: Endpoint) -> DeliveryStatus:
        if self.state is State.PENDING and endpoint.is_paused:
            return DeliveryStatus.HELD
        return DeliveryStatus(self.state)


@dataclass(frozen=True, slots=True)
class AttemptMade:
    n: int
    at: datetime
    status: int | None
    error: str | None
    address: str | None
    dns_ms: float | None
    connect_ms: float | None
    answer_ms: float | None
    total_ms: float
    answer_head: str | None


async def deliveries_of(
    tx: Tx,
    organization_id: UUID,
    endpoint: Endpoint,
    *,
    status: DeliveryStatus | None = None,
    type: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    after: Place | None = None,
    limit: int,
) -> tuple[list[Delivery], Place | None]:
    """Deliveries, newest first, and where the next page begins. With a filter a page may be short, and not the last.

    `since` and `until` cost nothing: the list is in the order of time.
    """
    if (status is DeliveryStatus.HELD and not endpoint.is_paused) or (
        status is DeliveryStatus.PENDING and endpoint.is_paused
    ):
        return [], None
    state = State.PENDING if status is DeliveryStatus.HELD else status
    place = after or END
    if until is not None and until < place.at:
        place = Place(until, START.id)
    here = (organization_id, endpoint.id, place.at, place.id)
    begin = since or START.at
    found = await tx.all(Delivery, PAGE, *here, state, type, LOOKED_THROUGH, limit + 1, begin)
    if len(found) > limit:
        return found[:limit], Place(found[limit - 1].at, found[limit - 1].id)
    if status is None and type is None:
        return found, None
    return found, await tx.one(Place, LAST_LOOKED_AT, *here, LOOKED_THROUGH - 1, begin)


async def find_delivery(tx: Tx, organization_id: UUID, endpoint: Endpoint, delivery_id: UUID) -> Delivery:
    """By its id alone. The first attempt or the queue tells about when it was made, which is how it is found."""
    found = await tx.one(Delivery, FIND, organization_id, endpoint.id, delivery_id, SKEW)
    if found is None:
        raise DeliveryNotFound
    return found


async def attempts_of(tx: Tx, organization_id: UUID, delivery: Delivery) -> list[AttemptMade]:
    return await tx.all(AttemptMade, ATTEMPTS, organization_id, delivery.id, delivery.at - SKEW, MOST_ATTEMPTS)


async def body_of(tx: Tx, organization_id: UUID, endpoint: Endpoint, delivery: Delivery) -> bytes | None:
    """What is sent, byte for byte; None once it is no longer kept."""
    event = (delivery.event_txid, delivery.event_id, delivery.event_at)
    return await tx.value(BODY, organization_id, endpoint.mode, *event)


PAGE: Final = """
    SELECT *
      FROM (SELECT d.at, d.id, d.event_txid, d.event_id, d.event_at, d.type, d.ordering_key, d.state, d.attempts,
                   d.next_at, d.ended_at, d.last_status, d.last_error, d.replay_id
              FROM webhook_delivery d
             WHERE d.organization_id = $1
               AND d.endpoint_id = $2
               AND d.at >= $9
               AND d.at <= $3
               AND (d.at, d.id) < ($3, $4)
             ORDER BY d.at DESC, d.id DESC
             LIMIT $7) looked
     WHERE ($5::text IS NULL OR looked.state = $5)
       AND ($6::text IS NULL OR looked.type = $6)
     ORDER BY looked.at DESC, looked.id DESC
     LIMIT $8
"""

LAST_LOOKED_AT: Final = """
    SELECT d.at, d.id
      FROM webhook_delivery d
     WHERE d.organization_id = $1
       AND d.endpoint_id = $2
       AND d.at >= $6
       AND d.at <= $3
       AND (d.at, d.id) < ($3, $4)
     ORDER BY d.at DESC, d.id DESC
    OFFSET $5
     LIMIT 1
"""

# Entered just after the first attempt, or, if there was none yet, at the time that the queue tells; read backwards.
FIND: Final = """
    SELECT d.at, d.id, d.event_txid, d.event_id, d.event_at, d.type, d.ordering_key, d.state, d.attempts, d.next_at,
           d.ended_at, d.last_status, d.last_error, d.replay_id
      FROM webhook_delivery d
     WHERE d.organization_id = $1
       AND d.endpoint_id = $2
       AND d.at <= coalesce((SELECT min(a.at) + $4::interval
                               FROM webhook_attempt a
                              WHERE a.organization_id = $1
                                AND a.delivery_id = $3),
                            (SELECT q.delivery_at
                               FROM webhook_queue q
                              WHERE q.organization_id = $1
                                AND q.endpoint_id = $2
                                AND q.delivery_id = $3))
       AND d.id = $3
     ORDER BY d.at DESC, d.id DESC
     LIMIT 1
"""

ATTEMPTS: Final = """
    SELECT a.n, a.at, a.status, a.error, a.address, a.dns_ms, a.connect_ms, a.answer_ms, a.total_ms, a.answer_head
      FROM webhook_attempt a
     WHERE a.organization_id = $1
       AND a.delivery_id = $2
       AND a.at >= $3
     ORDER BY a.n, a.at
     LIMIT $4
"""

BODY: Final = """
    SELECT body
      FROM webhook_event
     WHERE organization_id = $1
       AND mode = $2
       AND txid = $3
       AND id = $4
       AND at = $5
"""
