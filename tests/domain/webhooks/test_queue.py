"""The queue: each row is claimed once, fairly, in order per ticket; a lapsed claim is fenced off."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import tickets
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import MessageType, queue
from gatepass.domain.webhooks.queue import Attempt, Claimed, Health, Lane, Result, State
from tests import factory
from tests.factory import Tenant

OK = 200


async def endpoint(tenant: Tenant, *types: MessageType, mode: Mode = Mode.LIVE) -> UUID:
    """A row is enough: nothing is sent."""
    id = new_id()
    async with tenant.db.transaction() as tx:
        await tx.run(ADD, tenant.id, id, mode, [*map(str, types or (MessageType.TICKET_ACTIVATED,))])
    return id


ADD = """
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, created_at, created_by)
    VALUES ($1, $2, $3, 'https://example.com/', $4, 'x', now(), 'test')
"""


async def claim(tenant: Tenant, *endpoints: UUID, free: int = 10, lane: int = 0) -> list[Claimed]:
    """Claim only from these lanes: tests share a database."""
    async with tenant.db.autocommit() as tx:
        free_slots = {Lane(id, lane): free for id in endpoints}
        return await queue.claim(tx, free_slots, of_others=0, lanes=64, most=1000)


def attempt(status: int = OK) -> Attempt:
    return Attempt(factory.now(), status, None, "192.0.2.1", None, None, 1.0, 2.0, None, None)


async def record(tenant: Tenant, claimed: Sequence[Claimed], status: int = OK, again: float | None = None) -> int:
    state = State.DELIVERED if status == OK else State.PENDING if again is not None else State.FAILED
    async with tenant.db.autocommit() as tx:
        return await queue.record(tx, [Result(one, attempt(status), state, again) for one in claimed])


async def lapse(tenant: Tenant) -> None:
    """Let every claim of this organization lapse."""
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_queue SET next_at = now() - interval '1 second' WHERE organization_id = $1", tenant.id
        )


async def deliveries(tenant: Tenant) -> list[tuple[str, int, int | None]]:
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT state, attempts, last_status FROM webhook_delivery WHERE organization_id = $1 ORDER BY at, id",
            tenant.id,
        )
    return [tuple(row) for row in rows]


async def left(tenant: Tenant) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value("SELECT count(*) FROM webhook_queue WHERE organization_id = $1", tenant.id)


async def test_a_message_is_claimed_and_recorded(tenant: Tenant) -> None:
    one = await endpoint(tenant)
    (event_id,) = await tenant.tell()
    (claimed,) = await claim(tenant, one)
    assert claimed.event_id == event_id
    assert claimed.attempt == 1
    assert claimed.body is not None
    assert b'"type":"ticket.activated"' in claimed.body
    assert await record(tenant, [claimed]) == 1
    assert await deliveries(tenant) == [("delivered", 1, OK)]
    assert await left(tenant) == 0


async def test_what_is_claimed_is_nobody_elses(tenant: Tenant) -> None:
    one = await endpoint(tenant)
    await tenant.tell(30)
    batches = await asyncio.gather(*(claim(tenant, one, free=5) for _ in range(10)))
    ids = [claimed.id for batch in batches for claimed in batch]
    assert len(ids) == len(set(ids)) == 30
    assert await claim(tenant, one) == []


async def test_a_lapsed_claim_is_taken_over_and_its_record_comes_too_late(tenant: Tenant) -> None:
    one = await endpoint(tenant)
    await tenant.tell()
    (first,) = await claim(tenant, one)
    await lapse(tenant)
    (second,) = await claim(tenant, one)
    assert (first.id, first.attempt, second.attempt) == (second.id, 1, 2)
    assert await record(tenant, [first], status=500, again=5.0) == 0
    assert await deliveries(tenant) == [("pending", 0, None)]
    assert await record(tenant, [second]) == 1
    assert await record(tenant, [second]) == 0
    assert await deliveries(tenant) == [("delivered", 2, OK)]


async def test_of_one_ticket_the_earlier_message_goes_first(tenant: Tenant) -> None:
    one = await endpoint(tenant, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    ticket = new_id()
    (activated,) = await tenant.tell(about=ticket)
    (cancelled,) = await tenant.tell(about=ticket, type=MessageType.TICKET_CANCELLED)
    (other,) = await tenant.tell()
    claimed = await claim(tenant, one)
    assert [one.event_id for one in claimed] == [activated, other]
    await record(tenant, claimed[:1], status=500, again=3600.0)
    await lapse_only(tenant, cancelled)
    assert await claim(tenant, one) == []
    await lapse(tenant)
    first = await claim(tenant, one)
    assert [one.event_id for one in first][:1] == [activated]
    assert cancelled not in [one.event_id for one in first]
    await record(tenant, [claimed for claimed in first if claimed.event_id == activated])
    assert [one.event_id for one in await claim(tenant, one)] == [cancelled]


async def lapse_only(tenant: Tenant, event_id: UUID) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_queue q SET next_at = now() - interval '1 second' FROM webhook_delivery d"
            " WHERE q.organization_id = $1 AND d.organization_id = $1 AND d.id = q.delivery_id AND d.event_id = $2",
            tenant.id, event_id,
        )  # fmt: skip


async def test_a_failed_message_lets_the_next_one_of_its_ticket_go(tenant: Tenant) -> None:
    one = await endpoint(tenant)
    ticket = new_id()
    await tenant.tell(about=ticket)
    (later,) = await tenant.tell(about=ticket)
    (first,) = await claim(tenant, one)
    await record(tenant, [first], status=500)
    assert [one.event_id for one in await claim(tenant, one)] == [later]
    assert ("failed", 1, 500) in await deliveries(tenant)


async def test_a_failing_endpoint_is_asked_with_one_message_by_one_worker(tenant: Tenant) -> None:
    one = await endpoint(tenant)
    await tenant.tell(20)
    claimed = await claim(tenant, one, free=5)
    await record(tenant, claimed, status=500, again=0.0)
    await note(tenant, Health(tenant.id, one, Mode.LIVE, failed=5))
    assert await claim(tenant, one) == []
    await unblock(tenant, one)
    (probe,) = await claim(tenant, one)
    assert await claim(tenant, one) == []
    await record(tenant, [probe])
    await note(tenant, Health(tenant.id, one, Mode.LIVE, failed=0, is_back=True))
    assert len(await claim(tenant, one, free=50)) == 19


async def note(tenant: Tenant, health: Health) -> None:
    async with tenant.db.transaction() as tx:
        await queue.record_health(tx, [health], at=factory.now())


async def unblock(tenant: Tenant, endpoint_id: UUID) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE webhook_endpoint SET blocked_until = now() WHERE id = $1", endpoint_id)


async def status(tenant: Tenant, endpoint_id: UUID) -> tuple[str, str | None]:
    async with tenant.db.autocommit() as tx:
        (row,) = await tx.rows("SELECT status, paused_reason FROM webhook_endpoint WHERE id = $1", endpoint_id)
    return tuple(row)


async def test_gone_pauses_and_so_do_72_hours(tenant: Tenant) -> None:
    one, two, three = await endpoint(tenant), await endpoint(tenant), await endpoint(tenant, mode=Mode.SANDBOX)
    await note(tenant, Health(tenant.id, one, Mode.LIVE, failed=1, gone=True))
    assert await status(tenant, one) == ("paused", "gone")
    for id, mode, hours in ((two, Mode.LIVE, 72), (three, Mode.SANDBOX, 72 / 60)):
        await note(tenant, Health(tenant.id, id, mode, failed=1))
        await failing_for(tenant, id, timedelta(hours=hours) - timedelta(seconds=30))
        await note(tenant, Health(tenant.id, id, mode, failed=1))
        assert await status(tenant, id) == ("active", None)
        await failing_for(tenant, id, timedelta(hours=hours))
        await note(tenant, Health(tenant.id, id, mode, failed=1))
        assert await status(tenant, id) == ("paused", "failing")


async def failing_for(tenant: Tenant, endpoint_id: UUID, time: timedelta) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET failing_since = now() - $2::interval WHERE id = $1", endpoint_id, time
        )


@pytest.mark.parametrize("free", [1, 3])
async def test_organizations_take_turns(db: Database, free: int) -> None:
    """An organization with many endpoints does not delay another one."""
    many, few = await factory.tenant(db), await factory.tenant(db)
    crowd = [await endpoint(many) for _ in range(8)]
    lone = await endpoint(few)
    await many.tell(10)
    await few.tell(10)
    async with db.autocommit() as tx:
        free_slots = {Lane(id, 0): free for id in [*crowd, lone]}
        claimed = await queue.claim(tx, free_slots, of_others=0, lanes=2, most=1000)
    assert {one.organization_id for one in claimed} == {many.id, few.id}


async def test_a_ticket_cancelled_tells_its_subscribers(tenant: Tenant) -> None:
    one = await endpoint(tenant, MessageType.TICKET_CANCELLED)
    card = await tenant.card(with_ticket=False)
    ticket_id = await tenant.ticket(card)
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, ticket_id, by="test", at=factory.now(), reason="Refunded")
    (claimed,) = await claim(tenant, one)
    assert claimed.ordering_key == ticket_id
    assert claimed.body is not None
    assert card.number.encode() in claimed.body
