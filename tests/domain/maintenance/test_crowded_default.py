"""A default partition with more rows than can be moved while a gate waits becomes a partition itself."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import LiteralString

import asyncpg
import pytest

from gatepass.base.database import Database
from gatepass.base.errors import Unavailable
from gatepass.domain import maintenance
from gatepass.domain.maintenance import HISTORIES, MaintenanceReport, run_due
from tests import factory
from tests.domain.maintenance.histories import AHEAD, DAY, T0, happens, processes, scan, shown, where
from tests.size import sized

ROWS = sized(short=100_000, full=2_000_000)
CROWD = 3_000


async def crowd(db: Database, since: datetime, until: datetime, rows: int, *, history: str = "scan") -> None:
    """So many rows, spread evenly over this time, as a service has them that made no partitions."""
    statement: LiteralString = SCANS if history == "scan" else CALLS
    async with db.transaction(within=600) as tx:
        await tx.run(statement, rows, since, (until - since) / rows)


@asynccontextmanager
async def gates_going_on(db: Database) -> AsyncGenerator[list[float]]:
    """Forty scans a second, with the deadline of a gate's call; how long each of them took. Each is answered."""
    waits: list[float] = []
    under_way: set[asyncio.Task[None]] = set()

    async def one() -> None:
        began = time.monotonic()
        await scan(gates, await shown(gates), at=factory.now())
        waits.append(time.monotonic() - began)

    async def keep_scanning() -> None:
        while True:
            under_way.add(asyncio.create_task(one()))
            await asyncio.sleep(1 / 40)

    gates = factory.database(db.url, connections=200)
    scanning = asyncio.create_task(keep_scanning())
    try:
        yield waits
    finally:
        scanning.cancel()
        await asyncio.gather(*under_way)
        await gates.close()


async def oid_of(db: Database, table: str) -> int:
    async with db.autocommit() as tx:
        return await tx.value("SELECT $1::regclass::oid::bigint", table)


@pytest.mark.parametrize("weeks", [0, 9], ids=["of today", "of nine weeks without maintenance"])
async def test_gates_are_answered_while_a_full_default_partition_is_put_in_place(fresh: Database, weeks: int) -> None:
    now = factory.now()
    if weeks:
        await run_due(fresh, at=now - timedelta(weeks=weeks + AHEAD["scan"] + 1))
    await crowd(fresh, now - timedelta(weeks=weeks, hours=8), now, ROWS)
    before = await oid_of(fresh, "scan_default")
    async with processes(fresh, 1) as (worker,), gates_going_on(fresh) as waits:
        while len(waits) < 40:  # noqa: ASYNC110  gates tell nobody
            await asyncio.sleep(0.01)
        done = MaintenanceReport(put_off=1)
        while done.put_off:  # it waits 200 ms for a lock, and the next round tries again
            done = await run_due(worker, at=now)
        answered = len(waits)
        while len(waits) < answered + 40:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    print(f"{len(waits)} scans, all answered; the longest took {max(waits) * 1000:.0f} ms")
    async with fresh.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM scan") == ROWS + len(waits)
        assert await tx.value("SELECT count(*) FROM scan_default") == 0
        (place,) = await tx.rows("SELECT DISTINCT tableoid::bigint AS oid FROM scan WHERE at <= $1", now)
    assert place["oid"] == before, "its rows are where they were"


async def test_afterwards_all_partitions_are_there_and_nothing_is_left_to_do(fresh: Database) -> None:
    await crowd(fresh, T0 - timedelta(hours=1), T0, CROWD)
    await run_due(fresh, at=T0)
    assert await run_due(fresh, at=T0) == MaintenanceReport()
    for at in (T0 + n * DAY for n in range(56)):
        await happens(fresh, at=at)
    for history in HISTORIES:
        assert not any(piece.endswith("_default") for _, piece in await where(fresh, history))


async def test_rows_of_another_time_are_kept(fresh: Database) -> None:
    """Those before partitions that are there, and those of months to come, go back to the new default partition."""
    await run_due(fresh, at=T0 - 140 * DAY)
    strays = [T0 - 900 * DAY, T0 + 300 * DAY]
    for at in strays:
        await happens(fresh, at=at)
    await crowd(fresh, T0 - 30 * DAY, T0, CROWD)
    await run_due(fresh, at=T0)
    rows = await where(fresh, "scan")
    assert [at for at, piece in rows if piece == "scan_default"] == strays
    assert len(rows) == CROWD + len(strays)
    assert "scan_aside" not in await tables(fresh)


async def test_crowds_of_several_times_are_put_in_place_one_after_another(fresh: Database) -> None:
    """As after a restored dump: a partition for now is there, those before are not."""
    await run_due(fresh, at=T0 - 140 * DAY)
    await crowd(fresh, T0 - 180 * DAY, T0 - 160 * DAY, CROWD)
    await crowd(fresh, T0 - 30 * DAY, T0, CROWD)
    done = MaintenanceReport(partitions_made=1)
    while done.partitions_made:
        done = await run_due(fresh, at=T0)
    rows = await where(fresh, "scan")
    assert len(rows) == 2 * CROWD
    assert not {piece for at, piece in rows if at > T0 - 100 * DAY and piece == "scan_default"}


async def test_a_partition_of_many_weeks_is_kept_until_its_last_row_is_old(fresh: Database) -> None:
    await crowd(fresh, T0 - 60 * DAY, T0, CROWD, history="request_log")
    await run_due(fresh, at=T0)
    await run_due(fresh, at=T0 + 395 * DAY)
    assert len(await where(fresh, "request_log")) == CROWD
    await run_due(fresh, at=T0 + 420 * DAY)
    assert await where(fresh, "request_log") == []


async def test_a_maintenance_that_was_killed_on_the_way_is_finished_by_the_next(fresh: Database) -> None:
    await crowd(fresh, T0 - timedelta(hours=1), T0, CROWD)
    async with fresh.autocommit() as tx:
        (place,) = await tx.rows(maintenance.PLACE_OF_DEFAULT, "scan", T0)
        await tx.run(maintenance.BOUND_DEFAULT, "scan", *place)
    await happens(fresh, at=T0 + DAY)
    await run_due(fresh, at=T0)
    assert {piece for _, piece in await where(fresh, "scan")} == {f"scan_{place['starts']:%Y%m%d}"}


async def test_a_scan_under_way_is_not_waited_for(fresh: Database) -> None:
    """The step is put off, and until it is done the default partition takes rows as before."""
    await crowd(fresh, T0 - timedelta(hours=1), T0, CROWD)
    async with fresh.transaction() as tx:
        await tx.run("INSERT INTO scan SELECT * FROM scan LIMIT 0")
        assert (await run_due(fresh, at=T0)).put_off > 0
    await happens(fresh, at=T0 + 900 * DAY)
    assert (await run_due(fresh, at=T0)).put_off == 0


async def test_a_step_that_would_hold_its_lock_for_long_gives_up(fresh: Database) -> None:
    async def slow() -> None:
        async with fresh.transaction() as tx:
            await tx.run(maintenance.BRIEFLY)
            await tx.run("LOCK TABLE scan IN ACCESS EXCLUSIVE MODE")
            await tx.run("SELECT pg_sleep(60)")

    with pytest.raises(Unavailable) as given_up:
        await slow()
    assert isinstance(given_up.value.__cause__, asyncpg.QueryCanceledError)


async def tables(db: Database) -> set[str]:
    async with db.autocommit() as tx:
        return {row["relname"] for row in await tx.rows("SELECT relname FROM pg_class WHERE relkind = 'r'")}


SCANS = """
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, verdict)
    SELECT gen_random_uuid(), $2::timestamptz + n * $3::interval, gen_random_uuid(), 'live', gen_random_uuid(),
           gen_random_uuid(), 'CARD', 'activated'
      FROM generate_series(0, $1::integer - 1) n
"""

CALLS = """
    INSERT INTO request_log (organization_id, at, id, mode, key_id, method, path, status, duration_us)
    SELECT gen_random_uuid(), $2::timestamptz + n * $3::interval, gen_random_uuid(), 'live', gen_random_uuid(),
           'GET', '/events', 200, 1
      FROM generate_series(0, $1::integer - 1) n
"""
