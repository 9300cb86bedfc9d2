"""Steps of the tests of replays."""

from datetime import datetime, timedelta
from uuid import UUID

from gatepass.base.database import Row
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import Replay, Selection, queue
from gatepass.domain.webhooks.queue import Attempt, Claimed, Lane, Result, State
from tests import factory
from tests.factory import Tenant

URL = "https://example.com/"

HOUR = timedelta(hours=1)


async def sent(
    tenant: Tenant, endpoint_id: UUID, count: int, state: str = "delivered", type: str = "ticket.activated"
) -> None:
    """Write deliveries that were sent before, 20 seconds apart; without a worker, because there are many."""
    async with tenant.db.transaction() as tx:
        await tx.run(SENT, tenant.id, endpoint_id, count, state, type)


SENT = """
    WITH happened AS (
        INSERT INTO webhook_event (organization_id, mode, txid, id, at, type, body)
        SELECT $1, 'live', pg_current_xact_id()::text::bigint, gen_random_uuid(),
               now() - make_interval(secs => 20 * ($3::integer + 10 - n)), $5, convert_to('{"n":' || n || '}', 'UTF8')
          FROM generate_series(1, $3::integer) n
        RETURNING *
    )
    INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                  ordering_key, state, attempts, ended_at)
    SELECT $1, $2, at, md5(id::text || $2::uuid::text)::uuid, txid, id, at, $5, md5(body)::uuid, $4, 1, now()
      FROM happened
"""


async def begin(tenant: Tenant, endpoint_id: UUID, wanted: Selection | None = None) -> Replay:
    async with tenant.db.transaction() as tx:
        chosen = wanted or webhooks.select(at=factory.now())
        return await webhooks.begin_replay(
            tx, tenant.id, Mode.LIVE, endpoint_id, chosen, by=factory.BY, at=factory.now()
        )


async def step(tenant: Tenant, at: datetime | None = None) -> int:
    async with tenant.db.transaction() as tx:
        return await webhooks.advance_some(tx, at=at or factory.now())


async def finish(tenant: Tenant) -> None:
    while await step(tenant):
        pass


async def of(tenant: Tenant, endpoint_id: UUID) -> list[Replay]:
    async with tenant.db.autocommit() as tx:
        return await webhooks.replays_of(tx, tenant.id, endpoint_id, after=None, limit=100)


async def rows(tenant: Tenant, endpoint_id: UUID) -> list[Row]:
    """The replayed deliveries, in the order of the queue."""
    async with tenant.db.autocommit() as tx:
        return await tx.rows(REPLAYED, tenant.id, endpoint_id)


# As materialized sets, so that they are joined by hash whatever the planner knows of tables that were just filled.
REPLAYED = """
    WITH mine AS MATERIALIZED (
        SELECT * FROM webhook_delivery WHERE organization_id = $1 AND endpoint_id = $2
    )
    SELECT d.*, q.lane, q.next_at AS due, q.ordering_key AS queue_key, s.id AS source_id, s.at AS source_at,
           s.ordering_key AS source_key
      FROM webhook_queue q
      JOIN mine d ON d.at = q.delivery_at AND d.id = q.delivery_id
      JOIN mine s ON s.event_id = d.event_id AND s.replay_id IS NULL
     WHERE q.organization_id = $1
       AND q.endpoint_id = $2
       AND d.replay_id IS NOT NULL
     ORDER BY q.id
"""


async def clear(tenant: Tenant, endpoint_id: UUID, lane: int = 1) -> list[Claimed]:
    """Deliver all of this lane, as a worker does."""
    cleared: list[Claimed] = []
    while True:
        async with tenant.db.autocommit() as tx:
            claimed = await queue.claim(tx, {Lane(endpoint_id, lane): 1000}, of_others=0, lanes=64, most=1000)
        if not claimed:
            return cleared
        attempt = Attempt(factory.now(), 200, None, "192.0.2.1", None, None, 1.0, 2.0, None, None)
        async with tenant.db.autocommit() as tx:
            await queue.record(tx, [Result(one, attempt, State.DELIVERED) for one in claimed])
        cleared += claimed
