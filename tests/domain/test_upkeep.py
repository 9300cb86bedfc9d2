"""Upkeep: history has a place to go to and leaves when it is old; answers are kept a day; keepers do not collide."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, LiteralString, Protocol
from uuid import UUID

import asyncpg
import psycopg
import pytest
from msgspec.structs import replace

from gatepass.api.errors import VERDICT_STATUSES
from gatepass.base.database import Database, Tx
from gatepass.base.ids import new_id
from gatepass.domain import changes, tickets, upkeep
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan, Verdict
from gatepass.domain.tickets.cancellation import BATCH
from gatepass.domain.upkeep import HISTORIES, Done, keep
from gatepass.migrations import runner
from gatepass.migrations.sql import statements
from tests import make
from tests.make import House
from tests.postgres import Cluster

# Not a boundary of any partition.
T0: Final = datetime(2031, 5, 1, 12, 34, 56, tzinfo=UTC)
DAY: Final = timedelta(days=1)
WEBHOOKS: Final = ("webhook_event", "webhook_delivery", "webhook_attempt")
STEPS: Final = {"scan": 7 * DAY, "audit": 7 * DAY, "change": 28 * DAY} | dict.fromkeys(WEBHOOKS, 7 * DAY)
AHEAD: Final = {"scan": 8, "audit": 8, "change": 4} | dict.fromkeys(WEBHOOKS, 8)
KEPT: Final = {
    "scan": 400 * DAY,
    "audit": 400 * DAY,
    "change": 2555 * DAY,
    "webhook_event": 30 * DAY,
    "webhook_delivery": 90 * DAY,
    "webhook_attempt": 90 * DAY,
}


class Step(Protocol):
    async def __call__(self, tx: Tx, history: str, *, at: datetime) -> str | None: ...


@pytest.fixture(scope="module")
def template(cluster: Cluster) -> str:
    runner.upgrade(cluster.create_database("gatepass_upkeep"))
    return "gatepass_upkeep"


@pytest.fixture
async def fresh(cluster: Cluster, template: str) -> AsyncGenerator[Database]:
    """A migrated database without a single partition, whose retry keys were opened at T0."""
    name = f"gatepass_upkeep_{new_id().hex[-12:]}"
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    database = Database(cluster.url(name), connections=8, deadline=20)
    async with database.transaction() as tx:
        await tx.run("UPDATE idempotency_generation SET opened_at = $1", T0)
    yield database
    await database.close()


@asynccontextmanager
async def keepers(database: Database, count: int) -> AsyncGenerator[list[Database]]:
    """Several processes, each with connections of its own."""
    async with AsyncExitStack() as stack:
        made = [Database(database._url, connections=2, deadline=20) for _ in range(count)]
        for one in made:
            stack.push_async_callback(one.close)
        yield made


async def shown(database: Database, house: House | None = None, *, number: str = "X", key: str | None = None) -> Scan:
    """A card at a gate: at an event of this house, or of nobody."""
    async with database.transaction() as tx:
        organization_id = house.id if house else new_id()
        await tx.run(FOUND, organization_id)
        key_id = await tx.value(ISSUE, organization_id)
    return Scan(
        request_id=new_id(),
        organization_id=organization_id,
        mode=Mode.LIVE,
        key_id=key_id,
        address=None,
        elapsed_us=0,
        retry_key=key,
        event_id=house.event_id if house else new_id(),
        card_number=number,
        shown=number,
        expired=False,
        gate=None,
        scanner_id=None,
        occurred_at=None,
    )


# By hand, because the verbs write history, and that is what is counted here.
FOUND = "INSERT INTO organization (id, name, created_at) VALUES ($1, 'Gate', now()) ON CONFLICT DO NOTHING"
ISSUE = """
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by)
    VALUES ($1, gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'live', 'gate', 'aaaa', '{admin}',
            'epoch', 'x')
    RETURNING id
"""


async def scan(database: Database, one: Scan, *, at: datetime) -> Verdict:
    async with database.statement() as tx:
        (verdict,) = await tickets.activate(tx, [one], at=at, statuses=VERDICT_STATUSES)
    assert verdict is not None
    return verdict


async def note(database: Database, organization_id: UUID, *, at: datetime) -> None:
    async with database.transaction() as tx:
        await changes.note(tx, organization_id, "card", new_id(), "issued", by="test", at=at)


async def happens(database: Database, *, at: datetime) -> None:
    """A row in every history."""
    await scan(database, await shown(database), at=at)
    await note(database, new_id(), at=at)
    async with database.transaction() as tx:
        for statement in (EVENT, DELIVERY, ATTEMPT):
            await tx.run(statement, new_id(), at)


EVENT: Final = """
    INSERT INTO webhook_event (organization_id, mode, txid, id, at, type, body)
    VALUES ($1, 'live', 1, gen_random_uuid(), $2, 'webhook.ping', '')
"""
DELIVERY: Final = """
    INSERT INTO webhook_delivery (organization_id, endpoint_id, at, id, event_txid, event_id, event_at, type,
                                  ordering_key)
    VALUES ($1, $1, $2, $1, 1, $1, $2, 'webhook.ping', $1)
"""
ATTEMPT: Final = """
    INSERT INTO webhook_attempt (organization_id, at, delivery_id, n, total_ms)
    VALUES ($1, $2, $1, 1, 1)
"""


async def where(database: Database, history: str) -> list[tuple[datetime, str]]:
    """When each row was written and which piece it lies in."""
    async with database.reading() as tx:
        rows = await tx.rows(WHERE[history])
    return [(row["at"], row["piece"]) for row in rows]


WHERE: Final[dict[str, LiteralString]] = {
    "scan": "SELECT at, tableoid::regclass::text AS piece FROM scan ORDER BY at",
    "audit": "SELECT at, tableoid::regclass::text AS piece FROM audit ORDER BY at",
    "change": "SELECT at, tableoid::regclass::text AS piece FROM change ORDER BY at",
    "webhook_event": "SELECT at, tableoid::regclass::text AS piece FROM webhook_event ORDER BY at",
    "webhook_delivery": "SELECT at, tableoid::regclass::text AS piece FROM webhook_delivery ORDER BY at",
    "webhook_attempt": "SELECT at, tableoid::regclass::text AS piece FROM webhook_attempt ORDER BY at",
}


async def pieces(database: Database) -> set[str]:
    async with database.reading() as tx:
        rows = await tx.rows(
            "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent::regclass::text = ANY ($1)",
            HISTORIES,
        )
    return {row["name"] for row in rows}


# ---- partitions ------------------------------------------------------------------------------------------------


async def test_an_insert_never_fails_for_want_of_a_partition(fresh: Database) -> None:
    for at in (T0 - 4000 * DAY, T0, T0 + 4000 * DAY):
        await happens(fresh, at=at)
    for history in HISTORIES:
        assert [piece for _, piece in await where(fresh, history)] == [f"{history}_default"] * 3


async def test_partitions_are_made_ahead(fresh: Database) -> None:
    done = await keep(fresh, at=T0)
    assert done == Done(partitions_made=sum(ahead + 1 for ahead in AHEAD.values()))
    moments = [T0 + n * DAY for n in range(56)]
    for at in moments:
        await happens(fresh, at=at)
    for history in HISTORIES:
        assert not any(piece.endswith("_default") for _, piece in await where(fresh, history))


async def test_a_second_upkeep_finds_nothing_to_do(fresh: Database) -> None:
    await keep(fresh, at=T0)
    assert await keep(fresh, at=T0) == Done()


async def test_what_the_default_partition_took_is_moved(fresh: Database) -> None:
    """Rows that belong to no partition yet stay where they are."""
    moments = [T0 - 100 * DAY, T0, T0 + 3 * DAY, T0 + 50 * DAY, T0 + 400 * DAY]
    for at in moments:
        await happens(fresh, at=at)
    await keep(fresh, at=T0)
    for history in HISTORIES:
        rows = await where(fresh, history)
        assert [at for at, _ in rows] == moments
        assert [piece.endswith("_default") for _, piece in rows] == [True, False, False, False, True]


async def test_a_partition_is_found_by_the_planner_and_has_its_indexes(fresh: Database) -> None:
    await keep(fresh, at=T0)
    async with fresh.reading() as tx:
        rows = await tx.rows(
            "SELECT tablename, count(*) AS indexes FROM pg_indexes WHERE tablename ~ '_[0-9]{8}$' GROUP BY tablename"
        )
    expected = {"scan": 3, "audit": 1, "change": 3} | dict.fromkeys(WEBHOOKS, 1)
    assert len(rows) == len(await pieces(fresh)) - len(HISTORIES)
    assert {(row["tablename"].rpartition("_")[0], row["indexes"]) for row in rows} == set(expected.items())


@pytest.mark.parametrize("history", HISTORIES)
async def test_history_is_kept_as_long_as_promised_and_then_dropped(fresh: Database, history: str) -> None:
    await keep(fresh, at=T0)
    for at in (T0, T0 + STEPS[history]):
        await happens(fresh, at=at)
    await keep(fresh, at=T0 + KEPT[history])
    assert [at for at, _ in await where(fresh, history)] == [T0, T0 + STEPS[history]], "not a day too early"
    done = await keep(fresh, at=T0 + KEPT[history] + STEPS[history])
    assert done.partitions_dropped > 0
    assert [at for at, _ in await where(fresh, history)] == [T0 + STEPS[history]], "not a step too late"


async def test_upkeep_after_a_long_sleep_catches_up(fresh: Database) -> None:
    await keep(fresh, at=T0)
    before = await pieces(fresh)
    done = await keep(fresh, at=T0 + 3000 * DAY)
    assert done.partitions_dropped == len(before) - len(HISTORIES)
    assert len(await pieces(fresh)) == len(before)


async def test_a_scan_under_way_puts_partitions_off_and_does_not_wait(fresh: Database) -> None:
    """Upkeep gives up after a moment; the next one does the work."""
    async with fresh.transaction() as tx:
        await tickets.activate(tx, [await shown(fresh)], at=T0, statuses=VERDICT_STATUSES)
        done = await keep(fresh, at=T0 + 2 * DAY)
        assert done.put_off >= 2
        assert done.generations_rotated == 0
    done = await keep(fresh, at=T0 + 2 * DAY)
    assert done.put_off == 0
    assert done.generations_rotated == 1


# ---- answers under a retry key ---------------------------------------------------------------------------------


async def _is_kept_for(database: Database, age: timedelta, *, first_keep: timedelta) -> bool:
    """Whether an answer given at T0 + 1 h is still known at `age`, with upkeep every hour in between."""
    one = await shown(database, key="a key")
    given = T0 + timedelta(hours=1)
    assert (await scan(database, one, at=given)).replayed is False
    at = T0 + first_keep
    while at <= given + age:
        await upkeep._rotate(database, Done(), at)
        at += timedelta(hours=1)
    again = replace(one, request_id=new_id())
    return (await scan(database, again, at=given + age)).replayed


@pytest.mark.parametrize("first_keep", [timedelta(hours=hours) for hours in (0, 2, 23, 24, 25, 30)])
async def test_an_answer_is_kept_a_day_whenever_upkeep_runs(fresh: Database, first_keep: timedelta) -> None:
    assert await _is_kept_for(fresh, DAY, first_keep=first_keep)


async def test_an_answer_is_forgotten_in_the_end(fresh: Database) -> None:
    assert not await _is_kept_for(fresh, 3 * DAY, first_keep=timedelta())


async def test_generations_that_are_too_short_are_found_out(fresh: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "GENERATION", timedelta(hours=11))
    assert not await _is_kept_for(fresh, DAY, first_keep=timedelta())


async def test_a_rotation_leaves_the_table_before_last_empty(fresh: Database) -> None:
    for day in range(6):
        await scan(fresh, await shown(fresh, key=f"key {day}"), at=T0 + day * DAY)
        assert await upkeep._rotate(fresh, Done(), T0 + (day + 1) * DAY) == 1
    async with fresh.reading() as tx:
        assert await tx.value("SELECT count(*) FROM idempotency") <= 2


# ---- several keepers -------------------------------------------------------------------------------------------


async def test_two_keepers_rotate_once(fresh: Database) -> None:
    one = await shown(fresh, key="a key")
    await scan(fresh, one, at=T0)
    async with keepers(fresh, 4) as several:
        done = await asyncio.gather(*[upkeep._rotate(each, Done(), T0 + DAY) for each in several])
    assert sum(done) <= 1
    again = replace(one, request_id=new_id())
    assert (await scan(fresh, again, at=T0 + DAY)).replayed


async def _meet(database: Database, history: str, step: Step, *, at: datetime) -> tuple[Done, str | None]:
    """One keeper is half-way through a step when another comes to it and waits; then the first commits."""
    async with keepers(database, 2) as (first, second):
        async with first.transaction() as tx:
            name = await step(tx, history, at=at)
            late = asyncio.create_task(keep(second, at=at))
            async with asyncio.timeout(10):
                while not await _somebody_waits(database):
                    assert not late.done()
        return await late, name


async def _somebody_waits(database: Database) -> bool:
    async with database.reading() as tx:
        return await tx.value(
            "SELECT true FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keepers that wait for each other until the end, however slow the machine is."""
    monkeypatch.setattr(upkeep, "BRIEFLY", "SET LOCAL lock_timeout = '10s'")


async def _with_old_partitions(database: Database, *, at: datetime) -> int:
    """Partitions for T0 and for `at`; how many of them are expired then."""
    await keep(database, at=T0)
    old = len(await pieces(database)) - len(HISTORIES)
    for history in HISTORIES:
        while await _made(database, history, at=at):
            pass
    return old


async def _made(database: Database, history: str, *, at: datetime) -> str | None:
    async with database.transaction() as tx:
        return await upkeep.make_partition(tx, history, at=at)


@pytest.mark.usefixtures("patient")
async def test_two_keepers_make_a_partition_once(fresh: Database) -> None:
    done, name = await _meet(fresh, "scan", upkeep.make_partition, at=T0)
    assert name in await pieces(fresh)
    assert done.partitions_made == sum(ahead + 1 for ahead in AHEAD.values()) - 1


@pytest.mark.usefixtures("patient")
async def test_two_keepers_drop_a_partition_once(fresh: Database) -> None:
    later = T0 + 3000 * DAY
    old = await _with_old_partitions(fresh, at=later)
    done, name = await _meet(fresh, "scan", upkeep.drop_partition, at=later)
    assert name not in await pieces(fresh)
    assert done.partitions_dropped == old - 1


@pytest.mark.usefixtures("patient")
async def test_keepers_that_do_not_take_turns_are_found_out(fresh: Database) -> None:
    """The mutant: the routines without the line that makes them wait for each other."""
    text = (Path(upkeep.__file__).with_suffix(".sql")).read_text()
    mutant = "\n".join(line for line in text.splitlines() if "pg_advisory_xact_lock" not in line)
    assert mutant != text
    with psycopg.connect(fresh._url, autocommit=True) as connection:
        for statement in statements(mutant):
            connection.execute(statement.encode())
    with pytest.raises(asyncpg.DuplicateTableError):
        await _meet(fresh, "scan", upkeep.make_partition, at=T0)
    later = T0 + 3000 * DAY
    await _with_old_partitions(fresh, at=later)
    with pytest.raises(asyncpg.UndefinedTableError):
        await _meet(fresh, "scan", upkeep.drop_partition, at=later)


async def test_keepers_that_find_everything_done_do_nothing(fresh: Database) -> None:
    await keep(fresh, at=T0)
    async with keepers(fresh, 4) as several:
        assert await asyncio.gather(*[keep(each, at=T0) for each in several]) == [Done()] * 4


# ---- events and tickets ----------------------------------------------------------------------------------------


async def test_an_event_ends_by_itself_after_its_grace(fresh: Database) -> None:
    house = await make.house(fresh)
    async with fresh.reading() as tx:
        ends_at = await tx.value("SELECT ends_at FROM event WHERE id = $1", house.event_id)
    grace = timedelta(hours=6)
    assert (await keep(fresh, at=ends_at + grace - timedelta(seconds=1))).events_ended == 0
    assert (await keep(fresh, at=ends_at + grace)).events_ended == 1
    async with fresh.reading() as tx:
        (last, *_) = await changes.of_subject(tx, house.id, house.event_id)
    assert (last.actor, last.was, last.becomes) == ("upkeep", "published", "ended")


async def test_tickets_of_a_cancelled_event_are_cancelled_however_many(fresh: Database) -> None:
    house = await make.house(fresh)
    count = BATCH + 7
    async with fresh.transaction() as tx:
        made = await tickets.load(tx, house.id, house.event_id, [house.category_id], count, prefix="SVC", at=make.now())
    activated = await scan(fresh, await shown(fresh, house, number=made[0].card_number), at=make.now())
    assert activated.verdict == tickets.ACTIVATED
    await keep(fresh, at=make.now())
    await house.move_event(house.event_id, EventStatus.CANCELLED)
    async with keepers(fresh, 2) as several:
        done = await asyncio.gather(*[keep(each, at=make.now()) for each in several])
    assert sum(one.tickets_cancelled for one in done) == count
    async with fresh.reading() as tx:
        assert await tx.value("SELECT count(*) FROM ticket WHERE cancelled_at IS NULL") == 0
        assert await tx.value("SELECT sum(quantity_sold) FROM ticket_category") == 0


async def test_tickets_of_other_events_stay(fresh: Database) -> None:
    house, other = await make.house(fresh), await make.house(fresh)
    for one in (house, other):
        await one.card()
    await house.move_event(house.event_id, EventStatus.CANCELLED)
    assert (await keep(fresh, at=make.now())).tickets_cancelled == 1
    async with fresh.reading() as tx:
        assert await tx.value("SELECT organization_id FROM ticket WHERE cancelled_at IS NULL") == other.id
