"""Replays: earlier deliveries are sent again, as a durable job that any worker can continue.

A worker goes through the deliveries in their order, in batches, and stores its position in the same transaction. It
adds them to the backlog lane, under ordering keys of their own: a replay keeps its order, and delays no live message.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.paging import END, START, Place
from gatepass.domain import audit_log
from gatepass.domain.webhooks.endpoints import SUBJECT

# Deliveries in a step.
BATCH: Final = 500
# Nothing is added while this many wait, so that the queue of a paused or slow endpoint stays small.
MOST_WAITING: Final = 2_000


class ReplayNotFound(Refusal):
    """There is no such replay of this endpoint."""

    code = "replay_not_found"


class ReplayStatus(StrEnum):
    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Replay:
    id: UUID
    since: datetime
    until: datetime
    types: list[str] | None
    states: list[str]
    total: int
    done: int
    created_at: datetime
    ended_at: datetime | None

    @property
    def status(self) -> ReplayStatus:
        return ReplayStatus.RUNNING if self.ended_at is None else ReplayStatus.DONE

    @property
    def was_stopped(self) -> bool:
        """It ended before it had added all deliveries that were counted at its start."""
        return self.ended_at is not None and self.done < self.total


@dataclass(frozen=True, slots=True)
class _RunningReplay:
    organization_id: UUID
    id: UUID
    endpoint_id: UUID
    since: datetime
    until: datetime
    types: list[str] | None
    states: list[str]
    reached_at: datetime | None
    reached_id: UUID | None


async def replays_of(
    tx: Tx, organization_id: UUID, endpoint_id: UUID, *, after: Place | None, limit: int
) -> list[Replay]:
    """Replays of an endpoint, newest first, at most `limit`."""
    place = after or END
    return await tx.all(Replay, PAGE, organization_id, endpoint_id, place.at, place.id, limit)


async def find_replay(tx: Tx, organization_id: UUID, endpoint_id: UUID, replay_id: UUID) -> Replay:
    found = await tx.one(Replay, FIND, organization_id, endpoint_id, replay_id)
    if found is None:
        raise ReplayNotFound
    return found


async def stop_replay(
    tx: Tx, organization_id: UUID, endpoint_id: UUID, replay_id: UUID, *, by: str, at: datetime
) -> Replay:
    """Add nothing more to the queue. Deliveries that it has added, a few thousand at most, are still sent."""
    if await tx.run(STOP, organization_id, endpoint_id, replay_id, at):
        await audit_log.record(tx, organization_id, SUBJECT, endpoint_id, "replay stopped", by=by, at=at)
    return await find_replay(tx, organization_id, endpoint_id, replay_id)


async def advance_some(tx: Tx, *, at: datetime) -> int:
    """Run one step of one replay, of any organization; return how many deliveries it read, 0 if there is no replay."""
    found = await tx.one(_RunningReplay, NEXT, MOST_WAITING)
    if found is None:
        return 0
    reached = (found.reached_at or START.at, found.reached_id or START.id)
    span = (found.since, found.until, *reached, found.types, found.states)
    return await tx.value(ADVANCE, found.organization_id, found.endpoint_id, found.id, *span, BATCH, at)


COLUMNS: Final = "id, since, until, types, states, total, done, created_at, ended_at"

PAGE: Final = "SELECT " + COLUMNS + """
      FROM webhook_replay
     WHERE organization_id = $1
       AND endpoint_id = $2
       AND created_at <= $3
       AND (created_at, id) < ($3, $4)
     ORDER BY created_at DESC, id DESC
     LIMIT $5
"""  # fmt: skip

FIND: Final = "SELECT " + COLUMNS + """
      FROM webhook_replay
     WHERE organization_id = $1
       AND endpoint_id = $2
       AND id = $3
"""  # fmt: skip

# It waits for a worker that is running a step.
STOP: Final = """
    UPDATE webhook_replay
       SET ended_at = $4
     WHERE organization_id = $1
       AND endpoint_id = $2
       AND id = $3
       AND ended_at IS NULL
"""

# The oldest replay whose endpoint has fewer than $1 deliveries in its backlog, and that no other worker has locked.
NEXT: Final = """
    -- every organization: a worker serves all of them
    SELECT r.organization_id, r.id, r.endpoint_id, r.since, r.until, r.types, r.states, r.reached_at, r.reached_id
      FROM webhook_replay r
     WHERE r.ended_at IS NULL
       AND $1 > (SELECT count(*)
                   FROM (SELECT
                           FROM webhook_queue q
                          WHERE q.organization_id = r.organization_id
                            AND q.endpoint_id = r.endpoint_id
                            AND q.lane = 1
                          ORDER BY q.next_at
                          LIMIT $1) waiting)
     ORDER BY r.created_at
     LIMIT 1
       FOR NO KEY UPDATE OF r SKIP LOCKED
"""

# One statement writes the deliveries, their rows in the queue, and the position of the replay.
ADVANCE: Final = """
    WITH looked AS MATERIALIZED (
        SELECT d.at, d.id, d.event_txid, d.event_id, d.event_at, d.type, d.ordering_key, d.state, d.replay_id
          FROM webhook_delivery d
         WHERE d.organization_id = $1
           AND d.endpoint_id = $2
           AND d.at >= greatest($4::timestamptz, $6)
           AND d.at < $5
           AND (d.at, d.id) > ($6, $7)
         ORDER BY d.at, d.id
         LIMIT $10
    ),
    chosen AS MATERIALIZED (
        SELECT l.*, md5(l.id::text || $3::uuid::text)::uuid AS new_id,
               md5(l.ordering_key::text || $3::uuid::text)::uuid AS new_ordering_key
          FROM looked l
         WHERE l.replay_id IS NULL
           AND l.type <> 'webhook.ping'
           AND ($8::text[] IS NULL OR l.type = ANY ($8))
           AND l.state = ANY ($9)
    ),
    addressed AS (
        INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                      ordering_key, next_at, replay_id)
        SELECT $1, $2, $11, c.new_id, c.event_txid, c.event_id, c.event_at, c.type, c.new_ordering_key, $11, $3
          FROM chosen c
    ),
    queued AS (
        INSERT INTO webhook_queue (organization_id, endpoint_id, ordering_key, lane, next_at, delivery_at, delivery_id)
        SELECT $1, $2, c.new_ordering_key, 1, clock_timestamp(), $11, c.new_id
          FROM chosen c
         ORDER BY c.at, c.id
    ),
    last AS (
        SELECT l.at, l.id FROM looked l ORDER BY l.at DESC, l.id DESC LIMIT 1
    ),
    step AS (
        SELECT (SELECT count(*) FROM looked) AS looked_through, (SELECT count(*) FROM chosen) AS added
    )
    UPDATE webhook_replay r
       SET done = r.done + s.added,
           total = greatest(r.total, r.done + s.added),
           reached_at = coalesce((SELECT l.at FROM last l), r.reached_at),
           reached_id = coalesce((SELECT l.id FROM last l), r.reached_id),
           ended_at = CASE WHEN s.looked_through < $10 THEN $11 END
      FROM step s
     WHERE r.organization_id = $1
       AND r.id = $3
    RETURNING s.looked_through
"""
