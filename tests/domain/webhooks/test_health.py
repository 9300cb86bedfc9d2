"""The health of an endpoint, from its deliveries and its queue."""

from datetime import datetime, timedelta
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain.webhooks import health
from gatepass.domain.webhooks.health import EndpointHealth, health_of, healths_of
from tests import factory
from tests.factory import Tenant

URL = "https://example.com/hook"

DELIVERY = """
    INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                  ordering_key, state, attempts)
    SELECT $1, $2, $3::timestamptz + n * interval '1 second', gen_random_uuid(), n, gen_random_uuid(), $3,
           'ticket.activated', gen_random_uuid(), $4, $5
      FROM generate_series(1, $6::integer) n
    RETURNING id
"""


async def sent(
    tenant: Tenant, endpoint_id: UUID, at: datetime, *, state: str = "delivered", attempts: int = 1, count: int = 1
) -> None:
    async with tenant.db.transaction() as tx:
        await tx.rows(DELIVERY, tenant.id, endpoint_id, at, state, attempts, count)


async def found_health(tenant: Tenant, endpoint_id: UUID, at: datetime) -> EndpointHealth:
    async with tenant.db.autocommit() as tx:
        return await health_of(tx, tenant.id, endpoint_id, at=at)


def noon() -> datetime:
    return factory.now().replace(minute=30, second=0, microsecond=0)


async def test_an_endpoint_that_was_sent_nothing(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    found = await found_health(tenant, id, noon())
    assert [hour.messages for hour in found.hours] == [0] * health.HOURS
    assert (found.success, found.median_ms, found.busy) == (None, None, False)
    assert (found.waiting.count, found.waiting.oldest, found.waiting.next_try(noon())) == (0, None, None)


async def test_a_day_by_the_hour(tenant: Tenant) -> None:
    at = noon()
    id, _ = await tenant.endpoint(URL)
    other, _ = await tenant.endpoint(URL)
    await sent(tenant, id, at - timedelta(hours=3), count=3)
    await sent(tenant, id, at - timedelta(hours=3), attempts=4, count=1)
    await sent(tenant, id, at, state="failed", attempts=14)
    await sent(tenant, id, at, state="pending", attempts=2)
    await sent(tenant, id, at - timedelta(hours=25), count=5)
    await sent(tenant, other, at, count=7)
    found = await found_health(tenant, id, at)
    hours = found.hours
    assert len(hours) == health.HOURS
    assert hours[-1].begins == at.replace(minute=0)
    assert (hours[-4].messages, hours[-4].delivered, hours[-4].failed_attempts) == (4, 4, 3)
    last = hours[-1]
    assert (last.messages, last.delivered, last.failed_attempts, last.waiting, last.given_up) == (2, 0, 16, 1, 1)
    assert sum(hour.messages for hour in hours) == found.messages == 6
    assert found.success == 4 / (4 + 3 + 16)
    assert found.failed_attempts == 19


async def test_a_busy_hour_is_told_by_its_newest_messages(tenant: Tenant) -> None:
    at = noon()
    id, _ = await tenant.endpoint(URL)
    begins = at - timedelta(hours=2)
    await sent(tenant, id, begins, state="failed", count=50)
    await sent(tenant, id, begins + timedelta(minutes=5), count=health.MOST_OF_EACH)
    async with tenant.db.autocommit() as tx:
        found = (await healths_of(tx, tenant.id, [id], at=at))[id]
    assert found.busy
    assert (found.messages, found.success) == (health.MOST_OF_EACH, 1.0)
    closely = await found_health(tenant, id, at)
    assert (closely.messages, closely.busy, closely.given_up) == (health.MOST_OF_EACH + 50, False, 50)


async def test_what_waits_and_when_it_is_tried(db: Database, tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    before = factory.now()
    await tenant.tell(3)
    at = factory.now()
    found = (await found_health(tenant, id, at)).waiting
    assert (found.count, found.more, found.failures) == (3, False, 0)
    assert found.oldest is not None
    assert before <= found.oldest <= at
    assert found.next_try(at) == at
    blocked = at + timedelta(minutes=4)
    async with db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET blocked_until = $3, failures = 7 WHERE organization_id = $1 AND id = $2",
            tenant.id, id, blocked,
        )  # fmt: skip
    found = (await found_health(tenant, id, at)).waiting
    assert (found.next_try(at), found.failures) == (blocked, 7)


async def test_more_waits_than_is_counted(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await tenant.tell(5)
    async with tenant.db.autocommit() as tx:
        (row,) = await tx.rows(health.WAITING, tenant.id, [id], 5)
        (exact,) = await tx.rows(health.WAITING, tenant.id, [id], 6)
    assert (row["count"], row["more"], exact["count"], exact["more"]) == (5, True, 5, False)


async def test_the_median_is_that_of_the_answers_that_counted(db: Database, tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    at = noon()
    async with db.transaction() as tx:
        for attempts, took in ((1, 10), (2, 30), (1, 500)):
            (row,) = await tx.rows(DELIVERY, tenant.id, id, at, "delivered", attempts, 1)
            for n in range(1, attempts + 1):
                await tx.run(
                    "INSERT INTO webhook_attempt (organization_id, at, delivery_id, n, status, total_ms)"
                    " VALUES ($1, $2, $3, $4, 200, $5)",
                    tenant.id, at + timedelta(seconds=n), row["id"], n, took if n == attempts else 15_000,
                )  # fmt: skip
        await tx.rows(DELIVERY, tenant.id, id, at, "failed", 1, 1)
    assert (await found_health(tenant, id, at)).median_ms == 30
