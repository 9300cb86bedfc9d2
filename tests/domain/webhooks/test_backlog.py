"""The backlog: held for a paused endpoint, dropped for a deleted one, failed when its body is gone; its age."""

from datetime import timedelta
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import backlog
from gatepass.domain.webhooks.backlog import KEPT
from gatepass.domain.webhooks.queue import LEASE
from tests import factory
from tests.factory import Tenant

URL = "https://example.com/hook"


async def pause(db: Database, tenant: Tenant, id: UUID) -> None:
    async with db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET status = 'paused' WHERE organization_id = $1 AND id = $2", tenant.id, id
        )


async def lanes(db: Database, tenant: Tenant) -> dict[UUID, list[int]]:
    async with db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT endpoint_id, array_agg(lane ORDER BY id) AS lanes FROM webhook_queue"
            " WHERE organization_id = $1 GROUP BY endpoint_id",
            tenant.id,
        )
    return {row["endpoint_id"]: row["lanes"] for row in rows}


async def test_what_waits_for_a_paused_endpoint_is_set_aside(db: Database, tenant: Tenant) -> None:
    paused, _ = await tenant.endpoint(URL)
    active, _ = await tenant.endpoint(URL)
    await tenant.tell(3)
    await pause(db, tenant, paused)
    async with db.transaction() as tx:
        while await backlog.set_aside_some(tx):
            pass
    await tenant.tell(1)
    assert await lanes(db, tenant) == {paused: [1, 1, 1, 1], active: [0, 0, 0, 0]}


async def test_what_waits_for_a_deleted_endpoint_is_dropped(db: Database, tenant: Tenant) -> None:
    deleted, _ = await tenant.endpoint(URL)
    active, _ = await tenant.endpoint(URL)
    await tenant.tell(3)
    async with db.transaction() as tx:
        await webhooks.delete_endpoint(tx, tenant.id, Mode.LIVE, deleted, by="test", at=factory.now())
        while await backlog.drop_some_of_deleted(tx, at=factory.now()):
            pass
    assert await lanes(db, tenant) == {active: [0, 0, 0]}


async def test_what_was_held_for_too_long_has_failed(db: Database, tenant: Tenant) -> None:
    paused, _ = await tenant.endpoint(URL)
    await pause(db, tenant, paused)
    await tenant.tell(2)
    async with db.transaction() as tx:
        while await backlog.expire_some(tx, at=factory.now() + KEPT - timedelta(minutes=1)):
            pass
    assert await lanes(db, tenant) == {paused: [1, 1]}
    async with db.transaction() as tx:
        while await backlog.expire_some(tx, at=factory.now() + KEPT + timedelta(minutes=1)):
            pass
    assert await lanes(db, tenant) == {}
    async with db.autocommit() as tx:
        rows = await tx.rows("SELECT state, last_error FROM webhook_delivery WHERE organization_id = $1", tenant.id)
    assert [tuple(row) for row in rows] == [("failed", "expired")] * 2


async def test_the_oldest_of_each_lane_is_told(db: Database, tenant: Tenant) -> None:
    held, _ = await tenant.endpoint(URL)
    await tenant.endpoint(URL)
    await tenant.tell(2)
    await pause(db, tenant, held)
    async with db.autocommit() as tx:
        ages = {age.endpoint_id: age for age in await backlog.ages(tx)}
    assert ages[held].kind == "held"
    assert ages[held].waiting == 2
    assert 0 <= ages[held].seconds < 60


async def test_what_waits_for_its_next_attempt_goes_when_the_endpoint_resumes(db: Database, tenant: Tenant) -> None:
    paused, _ = await tenant.endpoint(URL)
    await tenant.tell(3)
    await pause(db, tenant, paused)
    for lane in (0, 1):
        async with db.transaction() as tx:
            await tx.run(
                "UPDATE webhook_queue SET lane = $2, next_at = now() + interval '16 hours' WHERE organization_id = $1",
                tenant.id, lane,
            )  # fmt: skip
            while await backlog.set_aside_some(tx):
                pass
            latest = await tx.value(
                "SELECT max(next_at) - now() FROM webhook_queue WHERE organization_id = $1", tenant.id
            )
        assert latest <= LEASE
