"""Asking for a replay: of what was sent in a span of time, or of one delivery."""

import hashlib
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.deliveries import find_delivery
from gatepass.domain.webhooks.endpoint import SUBJECT, Endpoint
from gatepass.domain.webhooks.endpoints import find_endpoint, lock_endpoint
from gatepass.domain.webhooks.queue import State
from gatepass.domain.webhooks.replays import MOST_WAITING, Replay
from gatepass.domain.webhooks.selection import KEPT, Selection, count_selected

# Of one endpoint at a time.
MOST_RUNNING: Final = 4


async def begin_replay(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, selection: Selection, *, by: str, at: datetime
) -> Replay:
    """Note what is to be sent again; workers do the rest."""
    await find_endpoint(tx, organization_id, mode, endpoint_id)
    # Before the lock: it may take a while, and workers write to the endpoint's row.
    total = await count_selected(tx, organization_id, endpoint_id, selection)
    await lock_endpoint(tx, organization_id, mode, endpoint_id)
    if await tx.value(RUNNING, organization_id, endpoint_id) >= MOST_RUNNING:
        raise NotAllowedFromHere(f"{MOST_RUNNING} replays of this endpoint are running. Wait for one to end.")
    return await _begin(tx, organization_id, endpoint_id, selection, total, by=by, at=at)


async def replay_one(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, delivery_id: UUID, *, by: str, at: datetime
) -> Replay:
    """Send one delivery again. There is nothing left to go through, so its replay is done as it begins."""
    endpoint = await lock_endpoint(tx, organization_id, mode, endpoint_id)
    selection = await select_one(tx, organization_id, endpoint, delivery_id, at=at)
    if await tx.value(WAITING, organization_id, endpoint_id, MOST_WAITING) >= MOST_WAITING:
        raise NotAllowedFromHere(f"{MOST_WAITING:,} messages wait for this endpoint already.")
    replay = await _begin(tx, organization_id, endpoint_id, selection, 1, done=1, ended_at=at, by=by, at=at)
    await tx.run(ADD, organization_id, endpoint_id, replay.id, selection.since, delivery_id, at)
    return replay


def resent_id(delivery_id: UUID, replay_id: UUID) -> UUID:
    """The id that a delivery has when a replay sends it again; ADD says the same."""
    return UUID(hashlib.md5(f"{delivery_id}{replay_id}".encode(), usedforsecurity=False).hexdigest())


async def select_one(
    tx: Tx, organization_id: UUID, endpoint: Endpoint, delivery_id: UUID, *, at: datetime
) -> Selection:
    """This delivery, if it can be sent again."""
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
    await changes.note(tx, organization_id, SUBJECT, endpoint_id, "replayed", by=by, at=at, becomes=becomes)
    return replay


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
    RETURNING id, since, until, types, states, total, done, created_at, ended_at
"""

# As replays.py adds many.
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
