"""Replays: a durable job that sends each delivery again once, in order, and makes nothing wait.

On a database of its own, because whoever advances replays advances everybody's.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from gatepass.base.database import Database, Row
from gatepass.base.refusals import InvalidRequest, NotAllowedFromHere
from gatepass.domain import changes, upkeep, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import Message, MessageType, Replay, Selection, queue, replays, selection
from gatepass.domain.webhooks.attempt import Attempt
from gatepass.domain.webhooks.queue import Claimed, Lane, Result, State
from gatepass.domain.webhooks.replays import BATCH, MOST_WAITING
from gatepass.migrations import runner
from tests import make
from tests.make import House
from tests.postgres import Cluster

URL = "https://example.com/"
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
async def own(cluster: Cluster) -> AsyncGenerator[Database]:
    url = cluster.create_database("gatepass_replays")
    runner.upgrade(url)
    database = Database(url, connections=16, deadline=20)
    await upkeep.keep(database, at=make.now())
    yield database
    await database.close()


@pytest.fixture
async def house(own: Database) -> AsyncGenerator[House]:
    yield await make.house(own)
    async with own.transaction() as tx:  # the next test has the workers to itself
        await tx.run("UPDATE webhook_replay SET ended_at = now() WHERE ended_at IS NULL")


async def sent(
    house: House, endpoint_id: UUID, count: int, state: str = "delivered", type: str = "ticket.activated"
) -> None:
    """Deliveries that went out before, 20 seconds apart; without a worker, because there are many."""
    async with house.db.transaction() as tx:
        await tx.run(SENT, house.id, endpoint_id, count, state, type)


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


async def begin(house: House, endpoint_id: UUID, wanted: Selection | None = None) -> Replay:
    async with house.db.transaction() as tx:
        chosen = wanted or webhooks.select(at=make.now())
        return await webhooks.begin_replay(tx, house.id, Mode.LIVE, endpoint_id, chosen, by=make.BY, at=make.now())


async def step(house: House, at: datetime | None = None) -> int:
    async with house.db.transaction() as tx:
        return await webhooks.advance_some(tx, at=at or make.now())


async def finish(house: House) -> None:
    while await step(house):
        pass


async def of(house: House, endpoint_id: UUID) -> list[Replay]:
    async with house.db.reading() as tx:
        return await webhooks.replays_of(tx, house.id, endpoint_id, after=None, limit=100)


async def rows(house: House, endpoint_id: UUID) -> list[Row]:
    """What was replayed, in the order of the queue."""
    async with house.db.reading() as tx:
        return await tx.rows(REPLAYED, house.id, endpoint_id)


REPLAYED = """
    SELECT d.*, q.lane, q.next_at AS due, q.ordering_key AS queue_key, s.id AS source_id, s.at AS source_at,
           s.ordering_key AS source_key
      FROM webhook_queue q
      JOIN webhook_delivery d ON d.organization_id = q.organization_id AND d.endpoint_id = q.endpoint_id
                             AND d.at = q.delivery_at AND d.id = q.delivery_id
      JOIN webhook_delivery s ON s.organization_id = d.organization_id AND s.endpoint_id = d.endpoint_id
                             AND s.event_id = d.event_id AND s.replay_id IS NULL
     WHERE q.organization_id = $1
       AND q.endpoint_id = $2
       AND d.replay_id IS NOT NULL
     ORDER BY q.id
"""


async def clear(house: House, endpoint_id: UUID, lane: int = 1) -> list[Claimed]:
    """Send what waits in this lane, as a worker does."""
    cleared: list[Claimed] = []
    while True:
        async with house.db.statement() as tx:
            claimed = await queue.claim(tx, {Lane(endpoint_id, lane): 1000}, elsewhere=0, lanes=64, most=1000)
        if not claimed:
            return cleared
        attempt = Attempt(make.now(), 200, None, "192.0.2.1", None, None, 1.0, 2.0, None, None)
        async with house.db.statement() as tx:
            await queue.record(tx, [Result(one, attempt, State.DELIVERED) for one in claimed])
        cleared += claimed


async def test_everything_is_sent_again_once_and_in_order(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, 1_234)
    replay = await begin(house, id)
    assert (replay.total, replay.done, replay.status) == (1_234, 0, "running")
    at = make.now()
    assert await step(house, at) == BATCH
    (halfway,) = await of(house, id)
    assert (halfway.done, halfway.status) == (BATCH, "running")
    assert [await step(house, at) for _ in range(3)] == [BATCH, 234, 0]
    (done,) = await of(house, id)
    assert (done.done, done.total, done.status, done.ended_at) == (1_234, 1_234, "done", at)
    found = await rows(house, id)
    assert len({row["source_id"] for row in found}) == len({row["id"] for row in found}) == 1_234
    assert [row["source_at"] for row in found] == sorted(row["source_at"] for row in found)
    assert {(row["replay_id"], row["at"], row["state"], row["attempts"], row["lane"]) for row in found} == {
        (replay.id, at, "pending", 0, 1)
    }


async def test_the_body_is_the_same_and_it_is_marked(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, 3)
    await begin(house, id)
    await finish(house)
    claimed = await clear(house, id)
    assert [one.body for one in claimed] == [b'{"n":1}', b'{"n":2}', b'{"n":3}']
    assert all(one.is_replay for one in claimed)


async def test_a_replay_makes_nothing_wait_that_happens_now(house: House) -> None:
    """About the same ticket: each keeps its order, in a lane of its own, under a key of its own."""
    id, _ = await house.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    about = house.event_id
    for type in (MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED):
        await house.tell(type=type, about=about)
    await clear(house, id, lane=0)
    await begin(house, id)
    await finish(house)
    (now,) = await house.tell(about=about)
    async with house.db.statement() as tx:
        claimed = await queue.claim(tx, {Lane(id, 0): 10, Lane(id, 1): 10}, elsewhere=0, lanes=64, most=10)
    assert sorted((one.lane, one.event_id == now) for one in claimed) == [(0, True), (1, False)]
    first, second = await rows(house, id)
    assert first["queue_key"] == second["queue_key"] != about


async def test_what_is_selected(house: House) -> None:
    id, _ = await house.endpoint(URL)
    other, _ = await house.endpoint(URL)
    for endpoint_id, count in ((id, 6), (other, 5)):
        await sent(house, endpoint_id, count, "delivered", "ticket.activated")
    await sent(house, id, 4, "failed", "ticket.cancelled")
    await sent(house, id, 3, "pending", "ticket.activated")
    await sent(house, id, 2, "delivered", "webhook.ping")
    at = make.now()
    for wanted, count in (
        (webhooks.select(at=at), 10),
        (webhooks.select(at=at, states=["failed"]), 4),
        (webhooks.select(at=at, states=["delivered"]), 6),
        (webhooks.select(at=at, types=["ticket.activated"]), 6),
        (webhooks.select(at=at, types=["ticket.activated"], states=["failed"]), 0),
        (webhooks.select(at=at, since=at - HOUR), 10),
        (webhooks.select(at=at, until=at - HOUR), 0),
        (webhooks.select(at=at, since=at - timedelta(seconds=20 * 12.5)), 6),
    ):
        async with house.db.reading() as tx:
            assert await webhooks.count_selected(tx, house.id, id, wanted) == count
        replay = await begin(house, id, wanted)
        await finish(house)
        (done,) = [one for one in await of(house, id) if one.id == replay.id]
        assert (done.done, done.total, done.status) == (count, count, "done")
        assert len([row for row in await rows(house, id) if row["replay_id"] == replay.id]) == count


async def test_a_replay_is_not_replayed(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, 5)
    for _ in range(3):
        replay = await begin(house, id)
        assert replay.total == 5
        await finish(house)
        assert len(await clear(house, id)) == 5


async def test_a_step_that_is_interrupted_is_as_if_it_had_not_begun(house: House) -> None:
    """Killed in the middle: the next worker goes on from the last step that was committed."""
    id, _ = await house.endpoint(URL)
    await sent(house, id, 1_300)
    await begin(house, id)
    assert await step(house) == BATCH

    async def die_in_the_middle() -> None:
        async with house.db.transaction() as tx:
            assert await webhooks.advance_some(tx, at=make.now()) == BATCH
            raise ZeroDivisionError

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await die_in_the_middle()
    assert (await of(house, id))[0].done == BATCH
    await finish(house)
    found = await rows(house, id)
    assert len(found) == len({row["source_id"] for row in found}) == 1_300
    assert (await of(house, id))[0].done == 1_300


async def test_workers_do_not_collide(house: House) -> None:
    """One has a replay in hand; the others take another one, or none."""
    one, _ = await house.endpoint(URL)
    two, _ = await house.endpoint(URL)
    for id in (one, two):
        await sent(house, id, 1_400)
        await begin(house, id)
    async with house.db.transaction() as tx:
        assert await webhooks.advance_some(tx, at=make.now()) == BATCH
        assert await step(house) == BATCH
        assert [(await of(house, id))[0].done for id in (one, two)] == [0, BATCH]
    await asyncio.gather(*[finish(house) for _ in range(5)])
    await finish(house)
    for id in (one, two):
        found = await rows(house, id)
        assert len(found) == len({row["source_id"] for row in found}) == 1_400


async def test_a_full_lane_is_not_filled_further(house: House) -> None:
    """A paused endpoint keeps its replay waiting; others go on meanwhile."""
    full, _ = await house.endpoint(URL)
    other, _ = await house.endpoint(URL)
    await sent(house, full, MOST_WAITING + BATCH)
    await begin(house, full)
    await finish(house)
    assert len(await rows(house, full)) == MOST_WAITING
    assert (await of(house, full))[0].status == "running"
    await sent(house, other, 10)
    await begin(house, other)
    await finish(house)
    assert (await of(house, other))[0].status == "done"
    assert (await of(house, full))[0].done == MOST_WAITING
    assert len(await clear(house, full)) == MOST_WAITING
    await finish(house)
    assert (await of(house, full))[0].status == "done"
    assert len(await clear(house, full)) == BATCH


async def test_of_many_that_are_asked_for_at_once_four_begin(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, 10)
    begun = await asyncio.gather(*[begin(house, id) for _ in range(12)], return_exceptions=True)
    assert sorted(isinstance(one, Replay) for one in begun) == [False] * 8 + [True] * 4
    assert {type(one) for one in begun} == {Replay, NotAllowedFromHere}


async def test_deleting_an_endpoint_ends_its_replays(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, 700)
    await begin(house, id)
    await step(house)
    async with house.db.transaction() as tx:
        await webhooks.delete_endpoint(tx, house.id, Mode.LIVE, id, by=make.BY, at=make.now())
    assert await step(house) == 0
    (replay,) = await of(house, id)
    assert (replay.status, replay.done) == ("done", BATCH)


async def test_what_ends_meanwhile_is_counted_in(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await house.tell(3)
    replay = await begin(house, id)
    assert replay.total == 0
    await clear(house, id, lane=0)
    await finish(house)
    (done,) = await of(house, id)
    assert (done.total, done.done, done.status) == (3, 3, "done")


async def test_one_delivery_is_sent_again(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await house.tell(3)
    await clear(house, id, lane=0)
    async with house.db.reading() as tx:
        source = (await tx.rows("SELECT * FROM webhook_delivery WHERE endpoint_id = $1 ORDER BY id LIMIT 1", id))[0]
    for count in (1, 2):
        async with house.db.transaction() as tx:
            replay = await webhooks.replay_one(tx, house.id, Mode.LIVE, id, source["id"], by=make.BY, at=make.now())
        assert (replay.total, replay.done, replay.status) == (1, 1, "done")
        assert await step(house) == 0
        assert len(await rows(house, id)) == count
    first, second = await rows(house, id)
    assert first["event_id"] == second["event_id"] == source["event_id"]
    assert first["queue_key"] != second["queue_key"]
    assert len(await clear(house, id)) == 2


async def test_more_than_a_million_are_too_many(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is on what must be looked through, whatever the filter lets pass."""
    id, _ = await house.endpoint(URL)
    await sent(house, id, 30)
    monkeypatch.setattr(selection, "MOST", 29)
    with pytest.raises(InvalidRequest, match="more than 29"):
        await begin(house, id, webhooks.select(at=make.now(), states=["failed"]))
    monkeypatch.setattr(selection, "MOST", 30)
    assert (await begin(house, id)).total == 30


async def test_a_step_is_bounded_however_little_it_finds(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, 1_100)
    await sent(house, id, 1, "failed")
    await begin(house, id, webhooks.select(at=make.now(), states=["failed"]))
    assert [await step(house) for _ in range(4)] == [BATCH, BATCH, 101, 0]
    assert len(await rows(house, id)) == 1
    assert replays.BATCH == BATCH


async def test_messages_about_one_ticket_keep_their_order(house: House) -> None:
    id, _ = await house.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    for n in range(4):
        messages = [Message(UUID(int=n << 8 | m), MessageType.TICKET_ACTIVATED, {}, house.id) for m in (3, 1, 2)]
        async with house.db.transaction() as tx:
            await webhooks.emit(tx, house.id, messages, at=make.now() - timedelta(seconds=60 - n))
        await clear(house, id, lane=0)
    await begin(house, id)
    await finish(house)
    assert [one.event_id.int >> 8 for one in await clear(house, id)] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


T = datetime.fromisoformat("2031-05-01T12:00:00+00:00")


def test_a_selection_has_its_defaults() -> None:
    chosen = webhooks.select(at=T)
    assert (chosen.since, chosen.until) == (T - 24 * HOUR, T)
    assert (chosen.types, chosen.states) == (None, ["delivered", "failed"])
    assert webhooks.select(at=T, until=T - HOUR).since == T - 25 * HOUR
    assert webhooks.select(at=T, since=T - 30 * 24 * HOUR).since == T - 30 * 24 * HOUR
    assert webhooks.select(at=T, types=["scan.denied", "scan.denied"]).types == ["scan.denied"]


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"until": T + timedelta(microseconds=1)}, "until"),
        ({"until": T - 31 * 24 * HOUR}, "until"),
        ({"until": datetime.fromisoformat("0001-01-01T00:00:00+00:00")}, "until"),
        ({"since": T}, "since"),
        ({"since": T - 30 * 24 * HOUR - timedelta(seconds=1)}, "since"),
        ({"since": datetime.fromisoformat("0001-01-01T00:00:00+23:59")}, "since"),
        ({"since": T - HOUR, "until": T - HOUR}, "since"),
        ({"types": []}, "types"),
        ({"types": ["webhook.ping"]}, "types"),
        ({"states": []}, "statuses"),
        ({"states": ["pending"]}, "statuses"),
    ],
)
def test_what_cannot_be_selected(asked: dict[str, object], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        webhooks.select(at=T, **asked)  # pyright: ignore[reportArgumentType]
    assert refused.value.param == param


async def test_a_replay_that_is_stopped_adds_nothing_more(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, BATCH + 10)
    replay = await begin(house, id)
    assert await step(house) == BATCH
    for _ in range(2):  # who asks twice is told the same
        async with house.db.transaction() as tx:
            stopped = await webhooks.stop_replay(tx, house.id, id, replay.id, by=make.BY, at=make.now())
        assert (stopped.done, stopped.total, stopped.was_stopped) == (BATCH, BATCH + 10, True)
    assert await step(house) == 0
    assert len(await rows(house, id)) == BATCH
    async with house.db.reading() as tx:
        noted = [change.action for change in await changes.of_subject(tx, house.id, id)]
    assert noted.count("replay stopped") == 1


async def test_a_replay_that_went_through_was_not_stopped(house: House) -> None:
    id, _ = await house.endpoint(URL)
    await sent(house, id, 3)
    replay = await begin(house, id)
    await finish(house)
    async with house.db.transaction() as tx:
        done = await webhooks.stop_replay(tx, house.id, id, replay.id, by=make.BY, at=make.now())
    assert (done.status, done.was_stopped) == ("done", False)


async def test_a_replay_of_another_endpoint_is_not_found(house: House) -> None:
    id, _ = await house.endpoint(URL)
    other, _ = await house.endpoint(URL)
    await sent(house, id, 1)
    replay = await begin(house, id)
    elsewhere = await make.house(house.db)
    for organization_id, endpoint_id in ((house.id, other), (elsewhere.id, id)):
        async with house.db.transaction() as tx:
            with pytest.raises(webhooks.ReplayNotFound):
                await webhooks.stop_replay(tx, organization_id, endpoint_id, replay.id, by=make.BY, at=make.now())
    (still,) = await of(house, id)
    assert still.status == "running"


async def test_the_id_of_a_delivery_that_is_sent_again_is_known_beforehand(house: House) -> None:
    id, _ = await house.endpoint(URL)
    (event_id,) = await house.tell()
    (first,) = await clear(house, id, lane=0)
    async with house.db.transaction() as tx:
        replay = await webhooks.replay_one(tx, house.id, Mode.LIVE, id, first.delivery_id, by=make.BY, at=make.now())
    (again,) = await rows(house, id)
    assert again["event_id"] == event_id
    assert again["id"] == webhooks.resent_id(first.delivery_id, replay.id)
