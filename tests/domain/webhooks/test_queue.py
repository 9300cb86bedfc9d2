"""The queue: claimed once, fairly, in order per ticket; a lapsed claim is taken over, and its record comes too late."""

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
from gatepass.domain.webhooks.attempt import Attempt
from gatepass.domain.webhooks.queue import Claimed, Health, Lane, Result, State
from tests import make
from tests.make import House

OK = 200


async def endpoint(house: House, *types: MessageType, mode: Mode = Mode.LIVE) -> UUID:
    """A row is enough here: nothing is sent."""
    id = new_id()
    async with house.db.transaction() as tx:
        await tx.run(ADD, house.id, id, mode, [*map(str, types or (MessageType.TICKET_ACTIVATED,))])
    return id


ADD = """
    INSERT INTO webhook_endpoint (organization_id, id, mode, url, types, sealed_secret, created_at, created_by)
    VALUES ($1, $2, $3, 'https://example.com/', $4, 'x', now(), 'test')
"""


async def claim(house: House, *endpoints: UUID, room: int = 10, lane: int = 0) -> list[Claimed]:
    """Claim from these alone: tests share a database."""
    async with house.db.statement() as tx:
        rooms = {Lane(id, lane): room for id in endpoints}
        return await queue.claim(tx, rooms, elsewhere=0, lanes=64, most=1000)


def attempt(status: int = OK) -> Attempt:
    return Attempt(make.now(), status, None, "192.0.2.1", None, None, 1.0, 2.0, None, None)


async def record(house: House, claimed: Sequence[Claimed], status: int = OK, again: float | None = None) -> int:
    state = State.DELIVERED if status == OK else State.PENDING if again is not None else State.FAILED
    async with house.db.statement() as tx:
        return await queue.record(tx, [Result(one, attempt(status), state, again) for one in claimed])


async def lapse(house: House) -> None:
    """Let every claim of this organization lapse, as time would."""
    async with house.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_queue SET next_at = now() - interval '1 second' WHERE organization_id = $1", house.id
        )


async def deliveries(house: House) -> list[tuple[str, int, int | None]]:
    async with house.db.reading() as tx:
        rows = await tx.rows(
            "SELECT state, attempts, last_status FROM webhook_delivery WHERE organization_id = $1 ORDER BY at, id",
            house.id,
        )
    return [tuple(row) for row in rows]


async def left(house: House) -> int:
    async with house.db.reading() as tx:
        return await tx.value("SELECT count(*) FROM webhook_queue WHERE organization_id = $1", house.id)


async def test_a_message_is_claimed_and_recorded(house: House) -> None:
    one = await endpoint(house)
    (event_id,) = await house.tell()
    (claimed,) = await claim(house, one)
    assert claimed.event_id == event_id
    assert claimed.attempt == 1
    assert claimed.body is not None
    assert b'"type":"ticket.activated"' in claimed.body
    assert await record(house, [claimed]) == 1
    assert await deliveries(house) == [("delivered", 1, OK)]
    assert await left(house) == 0


async def test_what_is_claimed_is_nobody_elses(house: House) -> None:
    one = await endpoint(house)
    await house.tell(30)
    batches = await asyncio.gather(*(claim(house, one, room=5) for _ in range(10)))
    ids = [claimed.id for batch in batches for claimed in batch]
    assert len(ids) == len(set(ids)) == 30
    assert await claim(house, one) == []


async def test_a_lapsed_claim_is_taken_over_and_its_record_comes_too_late(house: House) -> None:
    one = await endpoint(house)
    await house.tell()
    (first,) = await claim(house, one)
    await lapse(house)
    (second,) = await claim(house, one)
    assert (first.id, first.attempt, second.attempt) == (second.id, 1, 2)
    assert await record(house, [first], status=500, again=5.0) == 0
    assert await deliveries(house) == [("pending", 0, None)]
    assert await record(house, [second]) == 1
    assert await record(house, [second]) == 0
    assert await deliveries(house) == [("delivered", 2, OK)]


async def test_of_one_ticket_the_earlier_message_goes_first(house: House) -> None:
    one = await endpoint(house, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    ticket = new_id()
    (activated,) = await house.tell(about=ticket)
    (cancelled,) = await house.tell(about=ticket, type=MessageType.TICKET_CANCELLED)
    (other,) = await house.tell()
    claimed = await claim(house, one)
    assert [one.event_id for one in claimed] == [activated, other]
    await record(house, claimed[:1], status=500, again=3600.0)
    await lapse_only(house, cancelled)
    assert await claim(house, one) == []
    await lapse(house)
    first = await claim(house, one)
    assert [one.event_id for one in first][:1] == [activated]
    assert cancelled not in [one.event_id for one in first]
    await record(house, [claimed for claimed in first if claimed.event_id == activated])
    assert [one.event_id for one in await claim(house, one)] == [cancelled]


async def lapse_only(house: House, event_id: UUID) -> None:
    async with house.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_queue q SET next_at = now() - interval '1 second' FROM webhook_delivery d"
            " WHERE q.organization_id = $1 AND d.organization_id = $1 AND d.id = q.delivery_id AND d.event_id = $2",
            house.id, event_id,
        )  # fmt: skip


async def test_a_failed_message_lets_the_next_one_of_its_ticket_go(house: House) -> None:
    one = await endpoint(house)
    ticket = new_id()
    await house.tell(about=ticket)
    (later,) = await house.tell(about=ticket)
    (first,) = await claim(house, one)
    await record(house, [first], status=500)
    assert [one.event_id for one in await claim(house, one)] == [later]
    assert ("failed", 1, 500) in await deliveries(house)


async def test_a_failing_endpoint_is_asked_with_one_message_by_one_worker(house: House) -> None:
    one = await endpoint(house)
    await house.tell(20)
    claimed = await claim(house, one, room=5)
    await record(house, claimed, status=500, again=0.0)
    await note(house, Health(house.id, one, Mode.LIVE, failed=5))
    assert await claim(house, one) == []
    await unblock(house, one)
    (probe,) = await claim(house, one)
    assert await claim(house, one) == []
    await record(house, [probe])
    await note(house, Health(house.id, one, Mode.LIVE, failed=0, is_back=True))
    assert len(await claim(house, one, room=50)) == 19


async def note(house: House, health: Health) -> None:
    async with house.db.transaction() as tx:
        await queue.note_health(tx, [health], at=make.now())


async def unblock(house: House, endpoint_id: UUID) -> None:
    async with house.db.transaction() as tx:
        await tx.run("UPDATE webhook_endpoint SET blocked_until = now() WHERE id = $1", endpoint_id)


async def status(house: House, endpoint_id: UUID) -> tuple[str, str | None]:
    async with house.db.reading() as tx:
        (row,) = await tx.rows("SELECT status, paused_reason FROM webhook_endpoint WHERE id = $1", endpoint_id)
    return tuple(row)


async def test_gone_pauses_and_so_do_72_hours(house: House) -> None:
    one, two, three = await endpoint(house), await endpoint(house), await endpoint(house, mode=Mode.SANDBOX)
    await note(house, Health(house.id, one, Mode.LIVE, failed=1, gone=True))
    assert await status(house, one) == ("paused", "gone")
    for id, mode, hours in ((two, Mode.LIVE, 72), (three, Mode.SANDBOX, 72 / 60)):
        await note(house, Health(house.id, id, mode, failed=1))
        await failing_for(house, id, timedelta(hours=hours) - timedelta(seconds=30))
        await note(house, Health(house.id, id, mode, failed=1))
        assert await status(house, id) == ("active", None)
        await failing_for(house, id, timedelta(hours=hours))
        await note(house, Health(house.id, id, mode, failed=1))
        assert await status(house, id) == ("paused", "failing")


async def failing_for(house: House, endpoint_id: UUID, time: timedelta) -> None:
    async with house.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET failing_since = now() - $2::interval WHERE id = $1", endpoint_id, time
        )


@pytest.mark.parametrize("room", [1, 3])
async def test_organizations_take_turns(db: Database, room: int) -> None:
    """One organization with many endpoints does not push another one back."""
    many, few = await make.house(db), await make.house(db)
    crowd = [await endpoint(many) for _ in range(8)]
    lone = await endpoint(few)
    await many.tell(10)
    await few.tell(10)
    async with db.statement() as tx:
        rooms = {Lane(id, 0): room for id in [*crowd, lone]}
        claimed = await queue.claim(tx, rooms, elsewhere=0, lanes=2, most=1000)
    assert {one.organization_id for one in claimed} == {many.id, few.id}


async def test_a_ticket_cancelled_tells_its_subscribers(house: House) -> None:
    one = await endpoint(house, MessageType.TICKET_CANCELLED)
    card = await house.card(with_ticket=False)
    ticket_id = await house.ticket(card)
    async with house.db.transaction() as tx:
        await tickets.cancel(tx, house.id, ticket_id, by="test", at=make.now(), reason="Refunded")
    (claimed,) = await claim(house, one)
    assert claimed.ordering_key == ticket_id
    assert claimed.body is not None
    assert card.number.encode() in claimed.body
