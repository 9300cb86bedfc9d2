"""What waits: put aside for a paused endpoint, dropped for a deleted one, given up when its body is gone; its age."""

from datetime import timedelta
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import backlog
from gatepass.domain.webhooks.backlog import KEPT
from gatepass.domain.webhooks.queue import LEASE
from tests import make
from tests.make import House

URL = "https://example.com/hook"


async def pause(db: Database, house: House, id: UUID) -> None:
    async with db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET status = 'paused' WHERE organization_id = $1 AND id = $2", house.id, id
        )


async def lanes(db: Database, house: House) -> dict[UUID, list[int]]:
    async with db.reading() as tx:
        rows = await tx.rows(
            "SELECT endpoint_id, array_agg(lane ORDER BY id) AS lanes FROM webhook_queue"
            " WHERE organization_id = $1 GROUP BY endpoint_id",
            house.id,
        )
    return {row["endpoint_id"]: row["lanes"] for row in rows}


async def test_what_waits_for_a_paused_endpoint_is_set_aside(db: Database, house: House) -> None:
    paused, _ = await house.endpoint(URL)
    active, _ = await house.endpoint(URL)
    await house.tell(3)
    await pause(db, house, paused)
    async with db.transaction() as tx:
        while await backlog.set_aside_some(tx):
            pass
    await house.tell(1)
    assert await lanes(db, house) == {paused: [1, 1, 1, 1], active: [0, 0, 0, 0]}


async def test_what_waits_for_a_deleted_endpoint_is_dropped(db: Database, house: House) -> None:
    deleted, _ = await house.endpoint(URL)
    active, _ = await house.endpoint(URL)
    await house.tell(3)
    async with db.transaction() as tx:
        await webhooks.delete_endpoint(tx, house.id, Mode.LIVE, deleted, by="test", at=make.now())
        while await backlog.drop_some_of_deleted(tx, at=make.now()):
            pass
    assert await lanes(db, house) == {active: [0, 0, 0]}


async def test_what_was_held_for_too_long_has_failed(db: Database, house: House) -> None:
    paused, _ = await house.endpoint(URL)
    await pause(db, house, paused)
    await house.tell(2)
    async with db.transaction() as tx:
        while await backlog.expire_some(tx, at=make.now() + KEPT - timedelta(minutes=1)):
            pass
    assert await lanes(db, house) == {paused: [1, 1]}
    async with db.transaction() as tx:
        while await backlog.expire_some(tx, at=make.now() + KEPT + timedelta(minutes=1)):
            pass
    assert await lanes(db, house) == {}
    async with db.reading() as tx:
        rows = await tx.rows("SELECT state, last_error FROM webhook_delivery WHERE organization_id = $1", house.id)
    assert [tuple(row) for row in rows] == [("failed", "expired")] * 2


async def test_the_oldest_of_each_lane_is_told(db: Database, house: House) -> None:
    held, _ = await house.endpoint(URL)
    await house.endpoint(URL)
    await house.tell(2)
    await pause(db, house, held)
    async with db.reading() as tx:
        ages = {age.endpoint_id: age for age in await backlog.ages(tx)}
    assert ages[held].kind == "held"
    assert ages[held].waiting == 2
    assert 0 <= ages[held].seconds < 60


async def test_what_waits_for_its_next_attempt_goes_when_the_endpoint_resumes(db: Database, house: House) -> None:
    paused, _ = await house.endpoint(URL)
    await house.tell(3)
    await pause(db, house, paused)
    for lane in (0, 1):
        async with db.transaction() as tx:
            await tx.run(
                "UPDATE webhook_queue SET lane = $2, next_at = now() + interval '16 hours' WHERE organization_id = $1",
                house.id, lane,
            )  # fmt: skip
            while await backlog.set_aside_some(tx):
                pass
            latest = await tx.value(
                "SELECT max(next_at) - now() FROM webhook_queue WHERE organization_id = $1", house.id
            )
        assert latest <= LEASE
