"""An import whose workers are killed continues, and makes every ticket once."""

import asyncio
import random
from collections.abc import AsyncGenerator
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import imports, maintenance
from gatepass.domain.imports import CsvRow, Import, ImportState
from tests import factory
from tests.factory import Tenant
from tests.postgres import Cluster
from tests.warm.processes import launch_worker

ROWS = 8_000
KILLS = 4
REST = {ImportState.CHECKED, ImportState.DONE, ImportState.UNDONE}


@pytest.fixture
async def own_database(cluster: Cluster) -> AsyncGenerator[tuple[Tenant, dict[str, str]]]:
    """An organization in a database of its own, and the environment of its workers."""
    url = cluster.create_migrated(f"gatepass_import_killed_{new_id().hex[-8:]}")
    db = factory.database(url)
    await maintenance.run_due(db, at=factory.now())
    environment = {
        **factory.environment(url),
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_LOG_LEVEL": "error",
    }
    yield await factory.tenant(db, places=ROWS - 10), environment
    await db.close()


async def staged(tenant: Tenant) -> UUID:
    """A file with two rows of the same reference, and more rows than the category's capacity."""
    async with tenant.db.transaction() as tx:
        import_id, _ = await imports.begin(
            tx, tenant.id, tenant.event_id, new_id(), "guests.csv", by="t", at=factory.now()
        )
        rows = [CsvRow(n, [f"Guest {n}", f"R-{max(n, 3)}"]) for n in range(2, ROWS + 2)]
        await imports.stage(tx, tenant.id, import_id, rows, at=factory.now())
        await imports.received(tx, tenant.id, import_id, ["name", "reference"], at=factory.now())
        job = await imports.find(tx, tenant.id, import_id)
        named = ["name", "reference"]
        await imports.name_columns(tx, tenant.id, job, named, tenant.category_id, by="t", at=factory.now())
    return import_id


async def find(tenant: Tenant, import_id: UUID) -> Import:
    async with tenant.db.autocommit() as tx:
        return await imports.find(tx, tenant.id, import_id)


async def run_workers(
    tenant: Tenant, environment: dict[str, str], import_id: UUID, dice: random.Random
) -> tuple[Import, int]:
    """Run workers until the import reaches its next resting state; the first KILLS of them are killed at work."""
    killed = 0
    while True:
        worker = launch_worker(environment)
        at = (await find(tenant, import_id)).reached
        while (job := await find(tenant, import_id)).state not in REST and (killed == KILLS or job.reached == at):  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # until this worker has made progress, or the last one has finished
        if job.state in REST:
            worker.stop()
            return job, killed
        await asyncio.sleep(dice.random() * 0.05)
        worker.kill()
        killed += 1


async def test_every_ticket_is_made_once_whatever_dies(own_database: tuple[Tenant, dict[str, str]]) -> None:
    tenant, environment = own_database
    dice = random.Random(5)
    import_id = await staged(tenant)
    checked, killed = await run_workers(tenant, environment, import_id, dice)
    assert (checked.state, checked.faulty) == (ImportState.CHECKED, 10)
    async with tenant.db.transaction() as tx:
        await imports.begin_applying(tx, tenant.id, import_id, by="t", at=factory.now())
    done, killed_again = await run_workers(tenant, environment, import_id, dice)
    assert killed + killed_again >= KILLS
    assert (done.state, done.tickets_made, done.cards_made, done.faulty) == (ImportState.DONE, ROWS - 10, ROWS - 10, 10)
    async with tenant.db.autocommit() as tx:
        counted = await tx.rows(COUNTED, tenant.id, import_id)
    assert tuple(counted[0]) == (ROWS - 10, ROWS - 10, ROWS - 10, ROWS - 10, ROWS - 10, 10)
    async with tenant.db.transaction() as tx:
        await imports.begin_undoing(tx, tenant.id, import_id, by="t", at=factory.now(), reason="test")
    undone, _ = await run_workers(tenant, environment, import_id, dice)
    assert (undone.state, undone.tickets_removed, undone.tickets_kept) == (ImportState.UNDONE, ROWS - 10, 0)
    async with tenant.db.autocommit() as tx:
        counted = await tx.rows(COUNTED, tenant.id, import_id)
    assert tuple(counted[0]) == (0, 0, 0, 0, 0, 10)


COUNTED = """
    SELECT (SELECT count(*) FROM ticket WHERE organization_id = $1),
           (SELECT count(*) FROM card WHERE organization_id = $1),
           (SELECT count(*) FROM card_holder WHERE organization_id = $1),
           (SELECT count(*) FROM ticket_reference WHERE organization_id = $1),
           (SELECT sum(quantity_sold) FROM ticket_category WHERE organization_id = $1),
           (SELECT count(*) FROM import_row WHERE organization_id = $1 AND import_id = $2)
"""
