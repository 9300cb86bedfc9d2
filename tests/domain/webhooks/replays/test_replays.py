"""Replays: a durable job that sends each delivery again once, in order, and delays no live message."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from gatepass.domain import audit_log, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import Message, MessageType, queue, replays
from gatepass.domain.webhooks.queue import Lane
from gatepass.domain.webhooks.replays import BATCH, MOST_WAITING
from tests import factory
from tests.domain.webhooks.replays.steps import URL, begin, clear, finish, of, rows, sent, step
from tests.factory import Tenant


async def test_everything_is_sent_again_once_and_in_order(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 1_234)
    replay = await begin(tenant, id)
    assert (replay.total, replay.done, replay.status) == (1_234, 0, "running")
    at = factory.now()
    assert await step(tenant, at) == BATCH
    (halfway,) = await of(tenant, id)
    assert (halfway.done, halfway.status) == (BATCH, "running")
    assert [await step(tenant, at) for _ in range(3)] == [BATCH, 234, 0]
    (done,) = await of(tenant, id)
    assert (done.done, done.total, done.status, done.ended_at) == (1_234, 1_234, "done", at)
    found = await rows(tenant, id)
    assert len({row["source_id"] for row in found}) == len({row["id"] for row in found}) == 1_234
    assert [row["source_at"] for row in found] == sorted(row["source_at"] for row in found)
    assert {(row["replay_id"], row["at"], row["state"], row["attempts"], row["lane"]) for row in found} == {
        (replay.id, at, "pending", 0, 1)
    }


async def test_the_body_is_the_same_and_it_is_marked(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 3)
    await begin(tenant, id)
    await finish(tenant)
    claimed = await clear(tenant, id)
    assert [one.body for one in claimed] == [b'{"n":1}', b'{"n":2}', b'{"n":3}']
    assert all(one.is_replay for one in claimed)


async def test_a_replay_makes_nothing_wait_that_happens_now(tenant: Tenant) -> None:
    """For messages about one ticket: each keeps its order, in its own lane, under its own ordering key."""
    id, _ = await tenant.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    about = tenant.event_id
    for type in (MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED):
        await tenant.tell(type=type, about=about)
    await clear(tenant, id, lane=0)
    await begin(tenant, id)
    await finish(tenant)
    (now,) = await tenant.tell(about=about)
    async with tenant.db.autocommit() as tx:
        claimed = await queue.claim(tx, {Lane(id, 0): 10, Lane(id, 1): 10}, of_others=0, lanes=64, most=10)
    assert sorted((one.lane, one.event_id == now) for one in claimed) == [(0, True), (1, False)]
    first, second = await rows(tenant, id)
    assert first["queue_key"] == second["queue_key"] != about


async def test_a_replay_is_not_replayed(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 5)
    for _ in range(3):
        replay = await begin(tenant, id)
        assert replay.total == 5
        await finish(tenant)
        assert len(await clear(tenant, id)) == 5


async def test_a_step_that_is_interrupted_is_as_if_it_had_not_begun(tenant: Tenant) -> None:
    """After a crash in a step, the next worker continues from the last committed one."""
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 1_300)
    await begin(tenant, id)
    assert await step(tenant) == BATCH

    async def die_in_the_middle() -> None:
        async with tenant.db.transaction() as tx:
            assert await webhooks.advance_some(tx, at=factory.now()) == BATCH
            raise ZeroDivisionError

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await die_in_the_middle()
    assert (await of(tenant, id))[0].done == BATCH
    await finish(tenant)
    found = await rows(tenant, id)
    assert len(found) == len({row["source_id"] for row in found}) == 1_300
    assert (await of(tenant, id))[0].done == 1_300


async def test_workers_do_not_collide(tenant: Tenant) -> None:
    """While one worker has locked a replay, the others take another one, or none."""
    one, _ = await tenant.endpoint(URL)
    two, _ = await tenant.endpoint(URL)
    for id in (one, two):
        await sent(tenant, id, 1_400)
        await begin(tenant, id)
    async with tenant.db.transaction() as tx:
        assert await webhooks.advance_some(tx, at=factory.now()) == BATCH
        assert await step(tenant) == BATCH
        assert [(await of(tenant, id))[0].done for id in (one, two)] == [0, BATCH]
    await asyncio.gather(*[finish(tenant) for _ in range(5)])
    await finish(tenant)
    for id in (one, two):
        found = await rows(tenant, id)
        assert len(found) == len({row["source_id"] for row in found}) == 1_400


async def test_a_full_lane_is_not_filled_further(tenant: Tenant) -> None:
    """The replay of a paused endpoint waits; others continue."""
    full, _ = await tenant.endpoint(URL)
    other, _ = await tenant.endpoint(URL)
    await sent(tenant, full, MOST_WAITING + BATCH)
    await begin(tenant, full)
    await finish(tenant)
    assert len(await rows(tenant, full)) == MOST_WAITING
    assert (await of(tenant, full))[0].status == "running"
    await sent(tenant, other, 10)
    await begin(tenant, other)
    await finish(tenant)
    assert (await of(tenant, other))[0].status == "done"
    assert (await of(tenant, full))[0].done == MOST_WAITING
    assert len(await clear(tenant, full)) == MOST_WAITING
    await finish(tenant)
    assert (await of(tenant, full))[0].status == "done"
    assert len(await clear(tenant, full)) == BATCH


async def test_deleting_an_endpoint_ends_its_replays(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 700)
    await begin(tenant, id)
    await step(tenant)
    async with tenant.db.transaction() as tx:
        await webhooks.delete_endpoint(tx, tenant.id, Mode.LIVE, id, by=factory.BY, at=factory.now())
    assert await step(tenant) == 0
    (replay,) = await of(tenant, id)
    assert (replay.status, replay.done) == ("done", BATCH)


async def test_what_ends_meanwhile_is_counted_in(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await tenant.tell(3)
    replay = await begin(tenant, id)
    assert replay.total == 0
    await clear(tenant, id, lane=0)
    await finish(tenant)
    (done,) = await of(tenant, id)
    assert (done.total, done.done, done.status) == (3, 3, "done")


async def test_a_step_is_bounded_however_little_it_finds(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 1_100)
    await sent(tenant, id, 1, "failed")
    await begin(tenant, id, webhooks.select(at=factory.now(), states=["failed"]))
    assert [await step(tenant) for _ in range(4)] == [BATCH, BATCH, 101, 0]
    assert len(await rows(tenant, id)) == 1
    assert replays.BATCH == BATCH


async def test_messages_about_one_ticket_keep_their_order(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    for n in range(4):
        messages = [Message(UUID(int=n << 8 | m), MessageType.TICKET_ACTIVATED, {}, tenant.id) for m in (3, 1, 2)]
        async with tenant.db.transaction() as tx:
            await webhooks.emit(tx, tenant.id, messages, at=factory.now() - timedelta(seconds=60 - n))
        await clear(tenant, id, lane=0)
    await begin(tenant, id)
    await finish(tenant)
    assert [one.event_id.int >> 8 for one in await clear(tenant, id)] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


async def test_a_replay_that_is_stopped_adds_nothing_more(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, BATCH + 10)
    replay = await begin(tenant, id)
    assert await step(tenant) == BATCH
    for _ in range(2):  # a repeated request gives the same
        async with tenant.db.transaction() as tx:
            stopped = await webhooks.stop_replay(tx, tenant.id, id, replay.id, by=factory.BY, at=factory.now())
        assert (stopped.done, stopped.total, stopped.was_stopped) == (BATCH, BATCH + 10, True)
    assert await step(tenant) == 0
    assert len(await rows(tenant, id)) == BATCH
    async with tenant.db.autocommit() as tx:
        recorded = [entry.action for entry in await audit_log.of_subject(tx, tenant.id, id)]
    assert recorded.count("replay stopped") == 1


async def test_a_replay_that_went_through_was_not_stopped(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 3)
    replay = await begin(tenant, id)
    await finish(tenant)
    async with tenant.db.transaction() as tx:
        done = await webhooks.stop_replay(tx, tenant.id, id, replay.id, by=factory.BY, at=factory.now())
    assert (done.status, done.was_stopped) == ("done", False)


async def test_a_replay_of_another_endpoint_is_not_found(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    other, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 1)
    replay = await begin(tenant, id)
    of_others = await factory.tenant(tenant.db)
    for organization_id, endpoint_id in ((tenant.id, other), (of_others.id, id)):
        async with tenant.db.transaction() as tx:
            with pytest.raises(webhooks.ReplayNotFound):
                await webhooks.stop_replay(tx, organization_id, endpoint_id, replay.id, by=factory.BY, at=factory.now())
    (still,) = await of(tenant, id)
    assert still.status == "running"
