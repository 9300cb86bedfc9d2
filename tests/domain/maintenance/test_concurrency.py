"""Several processes run maintenance at once: each step is done once."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Protocol

import asyncpg
import psycopg
import pytest

from gatepass.base.database import Database, Tx
from gatepass.domain import maintenance
from gatepass.domain.maintenance import HISTORIES, MaintenanceReport, run_due
from gatepass.migrations.sql import statements
from tests.domain.maintenance.histories import (
    AHEAD,
    DAY,
    T0,
    partitions,
    processes,
    somebody_waits,
)


class Step(Protocol):
    async def __call__(self, tx: Tx, history: str, *, at: datetime) -> str | None: ...


async def _meet(database: Database, history: str, step: Step, *, at: datetime) -> tuple[MaintenanceReport, str | None]:
    """One process is in the middle of a step when another waits for it; then the first commits."""
    async with processes(database, 2) as (first, second):
        async with first.transaction() as tx:
            name = await step(tx, history, at=at)
            late = asyncio.create_task(run_due(second, at=at))
            async with asyncio.timeout(60):
                while not await somebody_waits(database):
                    assert not late.done()
        return await late, name


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes wait for each other, however slow the machine is."""
    monkeypatch.setattr(maintenance, "BRIEFLY", "SET LOCAL lock_timeout = '10s'")


async def _with_old_partitions(database: Database, *, at: datetime) -> None:
    """Make partitions for T0, which are expired at `at`, and for `at`."""
    await run_due(database, at=T0)
    for history in HISTORIES:
        while await _made(database, history, at=at):
            pass


async def _made(database: Database, history: str, *, at: datetime) -> str | None:
    async with database.transaction() as tx:
        return await maintenance.make_partition(tx, history, at=at)


@pytest.mark.usefixtures("patient")
async def test_two_keepers_make_a_partition_once(fresh: Database) -> None:
    done, name = await _meet(fresh, "scan", maintenance.make_partition, at=T0)
    assert name in await partitions(fresh)
    assert done.partitions_made == sum(ahead + 1 for ahead in AHEAD.values()) - 1


@pytest.mark.usefixtures("patient")
async def test_two_keepers_drop_a_partition_once(fresh: Database) -> None:
    later = T0 + 3000 * DAY
    await _with_old_partitions(fresh, at=later)
    done, name = await _meet(fresh, "scan", maintenance.drop_partition, at=later)
    assert name not in await partitions(fresh)
    assert done.partitions_dropped == len(HISTORIES) - 1


@pytest.mark.usefixtures("patient")
async def test_keepers_that_do_not_take_turns_are_found_out(fresh: Database) -> None:
    """A mutant: the routines without the advisory lock."""
    text = (Path(maintenance.__file__).with_suffix(".sql")).read_text()
    mutant = "\n".join(line for line in text.splitlines() if "pg_advisory_xact_lock" not in line)
    assert mutant != text
    with psycopg.connect(fresh.url, autocommit=True) as connection:
        for statement in statements(mutant):
            connection.execute(statement.encode())
    with pytest.raises(asyncpg.DuplicateTableError):
        await _meet(fresh, "scan", maintenance.make_partition, at=T0)


async def test_keepers_that_find_everything_done_do_nothing(fresh: Database) -> None:
    await run_due(fresh, at=T0)
    async with processes(fresh, 4) as several:
        assert await asyncio.gather(*[run_due(each, at=T0) for each in several]) == [MaintenanceReport()] * 4
