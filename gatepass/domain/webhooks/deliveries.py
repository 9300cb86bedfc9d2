"""Deliveries: the messages that were sent to an endpoint, or are to be sent, with their state and attempts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.paging import END, START, Place
from gatepass.base.wire_constants import NEXT_SIGNATURE_HEADER, SIGNATURE_HEADER
from gatepass.domain.visibility import WORDS, Columns
from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.endpoints import Endpoint
from gatepass.domain.webhooks.queue import State
from gatepass.domain.webhooks.signature import SECRET_PREFIX, Secrets

# A page with a filter reads at most this many deliveries, however few of them match.
LOOKED_THROUGH: Final = 10_000
# More attempts than a delivery ever has.
MOST_ATTEMPTS: Final = 100
# The largest difference between the clocks of two machines.
SKEW: Final = timedelta(minutes=1)
NOT_KEPT: Final = "(not kept)"
# For headers whose signatures are then removed: it signs nothing that leaves this file.
PLACEHOLDER: Final = Secrets(SECRET_PREFIX + "AAAA")


class DeliveryNotFound(Refusal):
    """There is no such delivery at this endpoint."""

    code = "delivery_not_found"


class DeliveryStatus(StrEnum):
    """The stored state, except that a pending delivery is held while its endpoint is paused."""

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
    guest: ClassVar[Columns] = {"answer_head": WORDS}

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
    """Deliveries, newest first, and where the next page begins. With a filter a page may be short and not the last.

    `since` and `until` cost nothing: the list is ordered by time.
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
    """By its id alone. The first attempt, or the queue, gives its approximate time, which limits the search."""
    found = await tx.one(Delivery, FIND, organization_id, endpoint.id, delivery_id, SKEW)
    if found is None:
        raise DeliveryNotFound
    return found


async def attempts_of(tx: Tx, organization_id: UUID, delivery: Delivery) -> list[AttemptMade]:
    return await tx.all(AttemptMade, ATTEMPTS, organization_id, delivery.id, delivery.at - SKEW, MOST_ATTEMPTS)


async def body_of(tx: Tx, organization_id: UUID, endpoint: Endpoint, delivery: Delivery) -> bytes | None:
    """The bytes that are sent; None if they are no longer kept."""
    event = (delivery.event_txid, delivery.event_id, delivery.event_at)
    return await tx.value(BODY, organization_id, endpoint.mode, *event)


def headers_of(delivery: Delivery, attempt: AttemptMade) -> dict[str, str]:
    """The headers of one attempt. Signatures are not stored, and their secrets may be gone, so they are left out."""
    headers = signature.headers(
        PLACEHOLDER,
        b"",
        event_id=delivery.event_id,
        type=delivery.type,
        delivery_id=delivery.id,
        attempt=attempt.n,
        replayed=delivery.replay_id is not None,
        at=attempt.at,
    )
    signed_at, _, _ = headers[SIGNATURE_HEADER].partition(",")
    headers[SIGNATURE_HEADER] = f"{signed_at},v1={NOT_KEPT}"
    headers["webhook-signature"] = f"v1,{NOT_KEPT}"
    headers.pop(NEXT_SIGNATURE_HEADER, None)
    return headers


# Of `webhook_delivery d`, in the order of the fields of Delivery.
COLUMNS: Final = """
           d.at, d.id, d.event_txid, d.event_id, d.event_at, d.type, d.ordering_key, d.state, d.attempts, d.next_at,
           d.ended_at, d.last_status, d.last_error, d.replay_id
"""

PAGE: Final = """
    SELECT *
      FROM (SELECT """ + COLUMNS + """
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
"""  # fmt: skip

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

# The index is read backwards from just after the first attempt or, without one, from the time in the queue.
FIND: Final = "SELECT " + COLUMNS + """
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
"""  # fmt: skip

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
