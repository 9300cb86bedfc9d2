"""The backlog of the queue: its age, and the deliveries to hold, to drop or to expire.

Each step is part of maintenance: bounded, repeatable, and for every organization.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.webhooks.message import KEPT
from gatepass.domain.webhooks.queue import LEASE

# Few enough that no other statement waits noticeably.
BATCH: Final = 1_000
# A scan that read an endpoint before its deletion has committed by then.
SETTLED: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LaneAge:
    """The age of the oldest message of a lane. `kind` is live, backlog, or held while its endpoint is paused."""

    endpoint_id: UUID
    kind: str
    seconds: float
    waiting: int


async def ages(tx: Tx) -> list[LaneAge]:
    return await tx.all(LaneAge, AGES)


async def set_aside_some(tx: Tx) -> int:
    """Move deliveries of paused endpoints to the backlog lane, whose rate is bounded after a resume; how many."""
    return await tx.run(SET_ASIDE_SOME, BATCH, LEASE)


async def drop_some_of_deleted(tx: Tx, *, at: datetime) -> int:
    """Delete the queue rows of deleted endpoints; how many. When none is left, mark the endpoints as cleared."""
    dropped = await tx.run(DROP_SOME_OF_DELETED, BATCH)
    if not dropped:
        await tx.run(CLEARED, at, at - SETTLED)
    return dropped


async def expire_some(tx: Tx, *, at: datetime) -> int:
    """Fail deliveries that were held for longer than their body is kept; how many."""
    return int(await tx.value(EXPIRE_SOME, at - KEPT, BATCH))


AGES: Final = """
    -- every organization: the operator needs the oldest of all
    SELECT q.endpoint_id,
           CASE WHEN e.status = 'paused' THEN 'held' WHEN q.lane = 0 THEN 'live' ELSE 'backlog' END AS kind,
           extract(epoch FROM clock_timestamp() - min(q.delivery_at))::double precision AS seconds,
           count(*) AS waiting
      FROM webhook_queue q
      JOIN webhook_endpoint e ON e.organization_id = q.organization_id AND e.id = q.endpoint_id
     GROUP BY q.organization_id, q.endpoint_id, 2
"""

# A row that a worker may have claimed keeps its time: it is due soon anyway.
SET_ASIDE_SOME: Final = """
    -- every organization: any of them may pause an endpoint
    UPDATE webhook_queue q
       SET lane = 1, next_at = least(q.next_at, now() + $2::interval)
      FROM (SELECT w.organization_id, w.endpoint_id, w.ordering_key, w.id
              FROM webhook_endpoint e
             CROSS JOIN LATERAL ((SELECT w.organization_id, w.endpoint_id, w.ordering_key, w.id
                                    FROM webhook_queue w
                                   WHERE w.organization_id = e.organization_id
                                     AND w.endpoint_id = e.id
                                     AND w.lane = 0
                                   LIMIT $1)
                                  UNION ALL
                                 (SELECT w.organization_id, w.endpoint_id, w.ordering_key, w.id
                                    FROM webhook_queue w
                                   WHERE w.organization_id = e.organization_id
                                     AND w.endpoint_id = e.id
                                     AND w.lane = 1
                                     AND w.next_at > now() + $2::interval
                                   LIMIT $1)) w
             WHERE e.status = 'paused'
               AND e.deleted_at IS NULL
             LIMIT $1) batch
     WHERE q.organization_id = batch.organization_id
       AND q.endpoint_id = batch.endpoint_id
       AND q.ordering_key = batch.ordering_key
       AND q.id = batch.id
"""

DROP_SOME_OF_DELETED: Final = """
    -- every organization: any of them may delete an endpoint
    DELETE FROM webhook_queue q
     USING (SELECT w.organization_id, w.endpoint_id, w.ordering_key, w.id
              FROM webhook_endpoint e
             CROSS JOIN LATERAL (SELECT w.organization_id, w.endpoint_id, w.ordering_key, w.id
                                   FROM webhook_queue w
                                  WHERE w.organization_id = e.organization_id
                                    AND w.endpoint_id = e.id
                                  LIMIT $1) w
             WHERE e.deleted_at IS NOT NULL
               AND e.cleared_at IS NULL
             LIMIT $1) batch
     WHERE q.organization_id = batch.organization_id
       AND q.endpoint_id = batch.endpoint_id
       AND q.ordering_key = batch.ordering_key
       AND q.id = batch.id
"""

CLEARED: Final = """
    -- every organization: any of them may delete an endpoint
    UPDATE webhook_endpoint
       SET cleared_at = $1
     WHERE deleted_at <= $2
       AND cleared_at IS NULL
"""

EXPIRE_SOME: Final = """
    -- every organization: any of them may leave an endpoint paused
    WITH expired AS (
        DELETE FROM webhook_queue q
         USING (SELECT w.organization_id, w.endpoint_id, w.ordering_key, w.id
                  FROM webhook_endpoint e
                 CROSS JOIN LATERAL (SELECT w.organization_id, w.endpoint_id, w.ordering_key, w.id
                                       FROM webhook_queue w
                                      WHERE w.organization_id = e.organization_id
                                        AND w.endpoint_id = e.id
                                        AND w.lane = 1
                                        AND w.next_at <= $1
                                      LIMIT $2) w
                 WHERE e.status = 'paused'
                   AND e.deleted_at IS NULL
                 LIMIT $2) batch
         WHERE q.organization_id = batch.organization_id
           AND q.endpoint_id = batch.endpoint_id
           AND q.ordering_key = batch.ordering_key
           AND q.id = batch.id
        RETURNING q.organization_id, q.endpoint_id, q.delivery_at, q.delivery_id, q.attempt
    ),
    -- Recorded as its last attempt, so that it is listed and explained like any other.
    attempted AS (
        INSERT INTO webhook_attempt (organization_id, at, delivery_id, n, error, total_ms)
        SELECT x.organization_id, clock_timestamp(), x.delivery_id, x.attempt + 1, 'expired', 0
          FROM expired x
    ),
    updated AS (
        UPDATE webhook_delivery d
           SET state = 'failed', attempts = x.attempt + 1, ended_at = clock_timestamp(), next_at = NULL,
               last_error = 'expired'
          FROM expired x
         WHERE d.organization_id = x.organization_id
           AND d.endpoint_id = x.endpoint_id
           AND d.at = x.delivery_at
           AND d.id = x.delivery_id
    )
    SELECT count(*) FROM expired
"""
