"""Partitions are made ahead and dropped when their rows are old; no insert ever lacks one."""

import asyncio

import pytest

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.database import Database
from gatepass.domain import maintenance, tickets
from gatepass.domain.maintenance import HISTORIES, MaintenanceReport, run_due
from tests.domain.maintenance.histories import (
    AHEAD,
    DAY,
    KEPT,
    STEPS,
    T0,
    WEBHOOKS,
    happens,
    partitions,
    processes,
    shown,
    somebody_waits,
    where,
)


async def test_an_insert_never_fails_for_want_of_a_partition(fresh: Database) -> None:
    for at in (T0 - 4000 * DAY, T0, T0 + 4000 * DAY):
        await happens(fresh, at=at)
    for history in HISTORIES:
        assert [piece for _, piece in await where(fresh, history)] == [f"{history}_default"] * 3


async def test_partitions_are_made_ahead(fresh: Database) -> None:
    done = await run_due(fresh, at=T0)
    assert done == MaintenanceReport(partitions_made=sum(ahead + 1 for ahead in AHEAD.values()))
    moments = [T0 + n * DAY for n in range(56)]
    for at in moments:
        await happens(fresh, at=at)
    for history in HISTORIES:
        assert not any(piece.endswith("_default") for _, piece in await where(fresh, history))


async def test_a_second_maintenance_finds_nothing_to_do(fresh: Database) -> None:
    await run_due(fresh, at=T0)
    assert await run_due(fresh, at=T0) == MaintenanceReport()


async def test_what_the_default_partition_took_is_moved(fresh: Database) -> None:
    """Rows that belong to no partition yet stay in the default partition."""
    moments = [T0 - 100 * DAY, T0, T0 + 3 * DAY, T0 + 50 * DAY, T0 + 400 * DAY]
    for at in moments:
        await happens(fresh, at=at)
    await run_due(fresh, at=T0)
    for history in HISTORIES:
        rows = await where(fresh, history)
        assert [at for at, _ in rows] == moments
        assert [piece.endswith("_default") for _, piece in rows] == [True, False, False, False, True]


async def test_a_row_that_is_written_while_its_partition_is_made_waits_for_it(fresh: Database) -> None:
    await happens(fresh, at=T0)
    async with processes(fresh, 1) as (keeper,):
        for history in HISTORIES:
            async with keeper.transaction() as tx:
                assert await maintenance.make_partition(tx, history, at=T0)
                late = asyncio.create_task(happens(fresh, at=T0))
                async with asyncio.timeout(60):
                    while not await somebody_waits(keeper):
                        assert not late.done()
            await late
    for history in HISTORIES:
        assert not any(piece.endswith("_default") for _, piece in await where(fresh, history))


async def test_a_partition_is_found_by_the_planner_and_has_its_indexes(fresh: Database) -> None:
    await run_due(fresh, at=T0)
    async with fresh.autocommit() as tx:
        rows = await tx.rows(
            "SELECT tablename, count(*) AS indexes FROM pg_indexes WHERE tablename ~ '_[0-9]{8}$' GROUP BY tablename"
        )
    expected = {"scan": 3, "request_log": 1, "audit_log": 5} | dict.fromkeys(WEBHOOKS, 1)
    assert len(rows) == len(await partitions(fresh)) - len(HISTORIES)
    assert {(row["tablename"].rpartition("_")[0], row["indexes"]) for row in rows} == set(expected.items())


@pytest.mark.parametrize("history", HISTORIES)
async def test_history_is_kept_as_long_as_promised_and_then_dropped(fresh: Database, history: str) -> None:
    await run_due(fresh, at=T0)
    for at in (T0, T0 + STEPS[history]):
        await happens(fresh, at=at)
    await run_due(fresh, at=T0 + KEPT[history])
    assert [at for at, _ in await where(fresh, history)] == [T0, T0 + STEPS[history]], "not a day too early"
    done = await run_due(fresh, at=T0 + KEPT[history] + STEPS[history])
    assert done.partitions_dropped > 0
    assert [at for at, _ in await where(fresh, history)] == [T0 + STEPS[history]], "not a step too late"


async def test_maintenance_after_a_long_sleep_makes_all_and_drops_one_a_day(fresh: Database) -> None:
    """If the clock of PostgreSQL itself is wrong, somebody has time to see it."""
    await run_due(fresh, at=T0)
    before = await partitions(fresh)
    for day in range(1, AHEAD["scan"] + 2):
        done = await run_due(fresh, at=T0 + (3000 + day) * DAY)
        assert done.partitions_dropped == sum(day <= ahead + 1 for ahead in AHEAD.values())
        assert (await run_due(fresh, at=T0 + (3000 + day) * DAY + DAY / 2)).partitions_dropped == 0
    assert not before & await partitions(fresh) - {f"{history}_default" for history in HISTORIES}


async def test_a_clock_that_was_ahead_for_a_while_stops_no_later_drop(fresh: Database) -> None:
    await run_due(fresh, at=T0)
    await run_due(fresh, at=T0 + 3000 * DAY)
    assert (await run_due(fresh, at=T0 + 2900 * DAY)).partitions_dropped == len(HISTORIES)


async def test_a_scan_under_way_puts_partitions_off_and_does_not_wait(fresh: Database) -> None:
    """Maintenance puts the step off after 200 ms; the next run does it."""
    async with fresh.transaction() as tx:
        await tickets.activate(tx, [await shown(fresh)], at=T0, statuses=VERDICT_STATUSES)
        done = await run_due(fresh, at=T0 + 2 * DAY)
        assert done.put_off >= 2
        assert done.generations_rotated == 0
    done = await run_due(fresh, at=T0 + 2 * DAY)
    assert done.put_off == 0
    assert done.generations_rotated == 1
