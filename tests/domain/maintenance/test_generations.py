"""Stored answers: each is kept for a day or more under its idempotency key, then removed."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import maintenance
from gatepass.domain.maintenance import MaintenanceReport
from tests.domain.maintenance.histories import (
    DAY,
    T0,
    processes,
    scan,
    shown,
)


async def _is_kept_for(database: Database, age: timedelta, *, first_keep: timedelta) -> bool:
    """Whether an answer of T0 + 1 h is still stored at `age`, with maintenance every hour in between."""
    one = await shown(database, key="a key")
    given = T0 + timedelta(hours=1)
    assert (await scan(database, one, at=given)).replayed is False
    at = T0 + first_keep
    while at <= given + age:
        await maintenance._rotate(database, MaintenanceReport(), at)
        at += timedelta(hours=1)
    again = replace(one, request_id=new_id())
    return (await scan(database, again, at=given + age)).replayed


@pytest.mark.parametrize("first_keep", [timedelta(hours=hours) for hours in (0, 2, 23, 24, 25, 30)])
async def test_an_answer_is_kept_a_day_whenever_maintenance_runs(fresh: Database, first_keep: timedelta) -> None:
    assert await _is_kept_for(fresh, DAY, first_keep=first_keep)


async def test_an_answer_is_forgotten_in_the_end(fresh: Database) -> None:
    assert not await _is_kept_for(fresh, 3 * DAY, first_keep=timedelta())


async def test_generations_that_are_too_short_are_found_out(fresh: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "GENERATION", timedelta(hours=11))
    assert not await _is_kept_for(fresh, DAY, first_keep=timedelta())


async def test_a_rotation_leaves_the_table_before_last_empty(fresh: Database) -> None:
    for day in range(6):
        await scan(fresh, await shown(fresh, key=f"key {day}"), at=T0 + day * DAY)
        assert await maintenance._rotate(fresh, MaintenanceReport(), T0 + (day + 1) * DAY) == 1
    async with fresh.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM idempotency") <= 2


async def test_two_keepers_rotate_once(fresh: Database) -> None:
    one = await shown(fresh, key="a key")
    await scan(fresh, one, at=T0)
    async with processes(fresh, 4) as several:
        done = await asyncio.gather(*[maintenance._rotate(each, MaintenanceReport(), T0 + DAY) for each in several])
    assert sum(done) <= 1
    again = replace(one, request_id=new_id())
    assert (await scan(fresh, again, at=T0 + DAY)).replayed
