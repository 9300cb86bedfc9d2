"""A worker, or `gatepass maintenance`, on a machine whose clock is wrong ends and deletes nothing."""

import ast
import asyncio
import subprocess
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gatepass.base.database import Database
from gatepass.base.server_clock import JOBS_WITHIN, ClocksDiffer, ServerClock
from gatepass.cli.commands import maintenance as maintenance_command
from gatepass.domain.lifecycle import suspension
from gatepass.worker import worker as worker_module
from gatepass.worker.worker import Worker
from tests import factory
from tests.domain.maintenance.wrong_clocks import off_by
from tests.factory import BY, KEY, Tenant
from tests.postgres import Cluster
from tests.processes import gatepass, launch_worker
from tests.receivers import receiving
from tests.worker.conftest import own_database, settings_for
from tests.worker.test_worker import has_states, until

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
async def own(cluster: Cluster) -> AsyncGenerator[Database]:
    async with own_database(cluster, "gatepass_wrong_clocks") as database:
        yield database


@pytest.fixture
async def tenant(own: Database) -> Tenant:
    return await factory.tenant(own)


def environment(db: Database) -> dict[str, str]:
    return {
        **factory.environment(db.url),
        "GATEPASS_ENCRYPTION_KEYS": KEY,
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
    }


async def held(db: Database, tenant: Tenant) -> dict[str, object]:
    """What a maintenance by a wrong clock would end or delete."""
    async with db.autocommit() as tx:
        (row,) = await tx.rows(HELD, tenant.id, tenant.event_id)
    return dict(row)


async def test_a_worker_whose_clock_is_a_day_ahead_ends_no_event(own: Database, tenant: Tenant) -> None:
    """It sends messages all the same, and signs them by PostgreSQL's time: a receiver refuses what is not of now."""
    before = await held(own, tenant)
    worker = launch_worker(environment(own) | off_by("+1d"))
    try:
        await asyncio.to_thread(worker.wait_for_line, "jobs wait: the clocks differ")
        async with receiving() as receiver:
            await tenant.endpoint(receiver.url())
            for count in (1, 2, 3):
                await tenant.tell()
                last = (await receiver.wait(count))[-1]
            await has_states(tenant, *[("delivered", 1, 200)] * 3)
        signed_at = 0.001 * int(last.headers["x-svc-signature"].removeprefix("t=").partition(",")[0])
        assert abs(signed_at - factory.now().timestamp()) < timedelta(hours=12).total_seconds()
        assert await held(own, tenant) == before
    finally:
        worker.stop()


@pytest.mark.parametrize("wrong", ["+1d", "+500d", "-1d", "+31s"])
async def test_maintenance_on_a_machine_whose_clock_is_wrong_ends_and_deletes_nothing(
    own: Database, tenant: Tenant, wrong: str
) -> None:
    async with own.transaction() as tx:
        await suspension.close(tx, tenant.id, reason="Over.", by=BY, at=factory.now(), keep=timedelta(days=60))
    before = await held(own, tenant)
    with pytest.raises(subprocess.CalledProcessError) as refused:
        await asyncio.to_thread(gatepass, environment(own) | off_by(wrong), "maintenance")
    assert "Nothing was ended or deleted" in refused.value.stderr
    assert await held(own, tenant) == before


async def test_an_organization_is_closed_by_a_clock_that_is_right(own: Database, tenant: Tenant) -> None:
    """Its day of erasure, by a clock of 1970, would be over."""
    async with own.autocommit() as tx:
        name = await tx.value("SELECT name FROM organization WHERE id = $1", tenant.id)
    command = ("organization", "close", name, "--reason", "Over.", "--yes")
    with pytest.raises(subprocess.CalledProcessError):
        await asyncio.to_thread(gatepass, environment(own) | off_by("-400d"), *command)
    async with own.autocommit() as tx:
        assert await tx.value("SELECT closed_at FROM organization WHERE id = $1", tenant.id) is None


async def test_work_goes_on_as_soon_as_the_clock_is_right(own: Database, tenant: Tenant) -> None:
    off = timedelta(days=-2)
    async with own.transaction() as tx:
        await tx.run(OVER, tenant.id, tenant.event_id)
    worker = Worker(settings_for(own), own_clock=lambda: factory.now() + off)
    task = asyncio.create_task(worker.run())
    try:
        async with receiving() as receiver:
            await tenant.endpoint(receiver.url())
            await tenant.tell()
            await receiver.wait(1)
        assert (await held(own, tenant))["status"] == "published"
        off = timedelta()

        async def has_ended() -> bool:
            return (await held(own, tenant))["status"] == "ended"

        await until(has_ended, 60)
    finally:
        worker.stop()
        await task


@pytest.mark.parametrize("off", [-JOBS_WITHIN, JOBS_WITHIN])
async def test_a_job_takes_the_earlier_of_two_clocks_that_agree_and_none_of_two_that_differ(
    own: Database, off: timedelta
) -> None:
    second = timedelta(seconds=5) if off > timedelta() else -timedelta(seconds=5)
    async with own.autocommit() as tx:
        before: datetime = await tx.value("SELECT clock_timestamp()")
        nearly = ServerClock(lambda: factory.now() + off - second)
        moment = await nearly.agreed(tx)
        after: datetime = await tx.value("SELECT clock_timestamp()")
        assert before + min(off - second, timedelta()) <= moment <= after
        assert before <= nearly() or off > timedelta()
        with pytest.raises(ClocksDiffer, match="ahead of" if off > timedelta() else "behind"):
            await ServerClock(lambda: factory.now() + off + second).agreed(tx)


def test_no_job_reads_the_clock_of_its_machine() -> None:
    """They have `ServerClock` alone, which is given the machine's clock to compare."""
    package = Path(worker_module.__file__).parent
    found: set[str] = set()
    for path in [*package.rglob("*.py"), Path(maintenance_command.__file__)]:
        for node in ast.walk(ast.parse(path.read_text())):
            reads = isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today", "time_ns")
            reads = reads or (
                isinstance(node, ast.Name) and node.id == "system_clock" and isinstance(node.ctx, ast.Load)
            )
            if reads and ast.unparse(node) != "self._clock.now":
                found.add(f"{path.relative_to(package.parent)}: {ast.unparse(node)}")
    # The default of an argument; the worker gives the sender its own clock.
    assert found == {"worker/worker.py: system_clock", "worker/sender.py: system_clock"}
    tree = ast.parse((package / "worker.py").read_text())
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "own_clock"]
    assert len(uses) == 1, "it is given to ServerClock, and to nothing else"


HELD = """
    SELECT (SELECT status FROM event WHERE organization_id = $1 AND id = $2) AS status,
           (SELECT count(*) FROM organization WHERE id = $1) AS organizations,
           (SELECT count(*) FROM event WHERE organization_id = $1) AS events,
           (SELECT count(*) FROM pg_inherits) AS partitions,
           (SELECT opened_at FROM idempotency_generation) AS generation
"""

OVER = """
    UPDATE event
       SET starts_at = now() - interval '2 days', ends_at = now() - interval '1 day'
     WHERE organization_id = $1
       AND id = $2
"""
