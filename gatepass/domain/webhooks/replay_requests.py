"""Replay requests: the selection of deliveries by time, type and state, and the start of a replay."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import audit_log
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.deliveries import find_delivery
from gatepass.domain.webhooks.endpoints import SUBJECT, Endpoint, find_endpoint, known_types, lock_endpoint
from gatepass.domain.webhooks.message import KEPT
from gatepass.domain.webhooks.queue import State
from gatepass.domain.webhooks.replays import COLUMNS, MOST_WAITING, Replay

# If `since` is not given.
SPAN: Final = timedelta(hours=24)
# Counting more would take longer than the deadline of a call.
MOST_SELECTED: Final = 1_000_000
# Pending deliveries are sent anyway.
ENDED: Final = (State.DELIVERED, State.FAILED)
# Running replays of one endpoint.
MOST_RUNNING: Final = 4


@dataclass(frozen=True, slots=True)
class Selection:
    """From `since` to before `until`. If `types` is None, all types but pings."""

    since: datetime
    until: datetime
    types: list[str] | None
    states: list[str]


def select(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    types: Sequence[str] | None = None,
    states: Sequence[str] | None = None,
    at: datetime,
) -> Selection:
    """The selection with its defaults at this time; or a refusal."""
    until = at if until is None else until
    if until > at:
        raise InvalidRequest("until is in the future.", param="until")
    if at - until > KEPT:
        raise InvalidRequest(f"Messages are kept for {KEPT.days} days; until is before that.", param="until")
    since = until - SPAN if since is None else since
    if since >= until:
        raise InvalidRequest("since is not before until.", param="since")
    if at - since > KEPT:
        raise InvalidRequest(f"Messages are kept for {KEPT.days} days; since is before that.", param="since")
    if states is not None and (not states or not set(states) <= set(ENDED)):
        raise InvalidRequest(f"statuses are {' and '.join(ENDED)}.", param="statuses")
    kinds = None if types is None else known_types(types)
    return Selection(since, until, kinds, list(dict.fromkeys(ENDED if states is None else states)))


async def count_selected(tx: Tx, organization_id: UUID, endpoint_id: UUID, selection: Selection) -> int:
    """The number of selected deliveries at this time."""
    span = (organization_id, endpoint_id, selection.since, selection.until)
    rows = await tx.rows(COUNT_SELECTED, *span, selection.types, selection.states, MOST_SELECTED + 1)
    if rows[0]["looked_through"] > MOST_SELECTED:
        raise InvalidRequest(f"There are more than {MOST_SELECTED:,} deliveries. Choose a shorter time.", param="since")
    return rows[0]["selected"]


async def begin_replay(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, selection: Selection, *, by: str, at: datetime
) -> Replay:
    """Start a replay; workers advance it."""
    await find_endpoint(tx, organization_id, mode, endpoint_id)
    # Before the lock: counting may take seconds, and workers write to the endpoint's row.
    total = await count_selected(tx, organization_id, endpoint_id, selection)
    await lock_endpoint(tx, organization_id, mode, endpoint_id)
    if await tx.value(RUNNING, organization_id, endpoint_id) >= MOST_RUNNING:
        raise NotAllowedFromHere(f"{MOST_RUNNING} replays of this endpoint are running. Wait for one to end.")
    return await _begin(tx, organization_id, endpoint_id, selection, total, by=by, at=at)


async def replay_one(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, delivery_id: UUID, *, by: str, at: datetime
) -> Replay:
    """Send one delivery again. Its replay is complete at once."""
    endpoint = await lock_endpoint(tx, organization_id, mode, endpoint_id)
    selection = await select_one(tx, organization_id, endpoint, delivery_id, at=at)
    if await tx.value(WAITING, organization_id, endpoint_id, MOST_WAITING) >= MOST_WAITING:
        raise NotAllowedFromHere(f"{MOST_WAITING:,} messages wait for this endpoint already.")
    replay = await _begin(tx, organization_id, endpoint_id, selection, 1, done=1, ended_at=at, by=by, at=at)
    await tx.run(ADD, organization_id, endpoint_id, replay.id, selection.since, delivery_id, at)
    return replay


def resent_id(delivery_id: UUID, replay_id: UUID) -> UUID:
    """The id of a delivery in a replay; ADD computes the same."""
    return UUID(hashlib.md5(f"{delivery_id}{replay_id}".encode(), usedforsecurity=False).hexdigest())


async def select_one(
    tx: Tx, organization_id: UUID, endpoint: Endpoint, delivery_id: UUID, *, at: datetime
) -> Selection:
    """The selection of one delivery, if it can be sent again."""
    delivery = await find_delivery(tx, organization_id, endpoint, delivery_id)
    if delivery.state is State.PENDING:
        raise NotAllowedFromHere("This delivery is still to be sent.")
    if at - delivery.event_at > KEPT:
        raise NotAllowedFromHere(f"Messages are kept for {KEPT.days} days; this one is older.")
    return Selection(delivery.at, delivery.at + timedelta(microseconds=1), [delivery.type], [delivery.state])


async def _begin(
    tx: Tx,
    organization_id: UUID,
    endpoint_id: UUID,
    selection: Selection,
    total: int,
    *,
    by: str,
    at: datetime,
    done: int = 0,
    ended_at: datetime | None = None,
) -> Replay:
    chosen = (selection.since, selection.until, selection.types, selection.states)
    progress = (total, done, at, by, ended_at)
    replay = await tx.one(Replay, BEGIN, organization_id, new_id(), endpoint_id, *chosen, *progress)
    assert replay is not None  # noqa: S101  an INSERT returns its row
    becomes = f"{total} to be sent again"
    await audit_log.record(tx, organization_id, SUBJECT, endpoint_id, "replayed", by=by, at=at, becomes=becomes)
    return replay


# Deliveries of a replay are not replayed; their originals are.
COUNT_SELECTED: Final = """
    SELECT count(*) AS looked_through,
           count(*) FILTER (WHERE looked.replay_id IS NULL
                              AND looked.type <> 'webhook.ping'
                              AND ($5::text[] IS NULL OR looked.type = ANY ($5))
                              AND looked.state = ANY ($6)) AS selected
      FROM (SELECT d.replay_id, d.type, d.state
              FROM webhook_delivery d
             WHERE d.organization_id = $1
               AND d.endpoint_id = $2
               AND d.at >= $3
               AND d.at < $4
             LIMIT $7) looked
"""

RUNNING: Final = """
    SELECT count(*)
      FROM webhook_replay
     WHERE organization_id = $1
       AND endpoint_id = $2
       AND ended_at IS NULL
"""

WAITING: Final = """
    SELECT count(*)
      FROM (SELECT
              FROM webhook_queue
             WHERE organization_id = $1
               AND endpoint_id = $2
               AND lane = 1
             LIMIT $3) waiting
"""

BEGIN: Final = """
    INSERT INTO webhook_replay (organization_id, id, endpoint_id, since, until, types, states, total, done, created_at,
                                created_by, ended_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    RETURNING """ + COLUMNS  # fmt: skip

# ADVANCE in replays.py adds a batch in the same way.
ADD: Final = """
    WITH chosen AS MATERIALIZED (
        SELECT d.event_txid, d.event_id, d.event_at, d.type, md5(d.id::text || $3::uuid::text)::uuid AS new_id,
               md5(d.ordering_key::text || $3::uuid::text)::uuid AS new_ordering_key
          FROM webhook_delivery d
         WHERE d.organization_id = $1
           AND d.endpoint_id = $2
           AND d.at = $4
           AND d.id = $5
    ),
    addressed AS (
        INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                      ordering_key, next_at, replay_id)
        SELECT $1, $2, $6, c.new_id, c.event_txid, c.event_id, c.event_at, c.type, c.new_ordering_key, $6, $3
          FROM chosen c
    )
    INSERT INTO webhook_queue (organization_id, endpoint_id, ordering_key, lane, next_at, delivery_at, delivery_id)
    SELECT $1, $2, c.new_ordering_key, 1, clock_timestamp(), $6, c.new_id
      FROM chosen c
"""
