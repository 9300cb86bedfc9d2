"""An import whose workers are killed goes on where it was, and makes every ticket once."""

import asyncio
import random
from collections.abc import AsyncGenerator
from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import imports, upkeep
from gatepass.domain.imports import Import, ImportState, Row
from gatepass.migrations import runner
from tests import make
from tests.make import House
from tests.postgres import Cluster
from tests.serving import launch_worker

pytestmark = pytest.mark.slow

ROWS = 8_000
KILLS = 4
REST = {ImportState.CHECKED, ImportState.DONE, ImportState.UNDONE}


@pytest.fixture
async def alone(cluster: Cluster) -> AsyncGenerator[tuple[House, dict[str, str]]]:
    """An organization in a database of its own, and the environment of its workers."""
    url = cluster.create_database(f"gatepass_import_killed_{new_id().hex[-8:]}")
    runner.upgrade(url)
    db = Database(url, deadline=20)
    await upkeep.keep(db, at=make.now())
    environment = {
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_ENCRYPTION_KEYS": make.KEY,
        "GATEPASS_LOG_LEVEL": "error",
    }
    yield await make.house(db, places=ROWS - 10), environment
    await db.close()


async def staged(house: House) -> UUID:
    """A file with two rows of the same reference, and more rows than there are places."""
    async with house.db.transaction() as tx:
        import_id, _ = await imports.begin(tx, house.id, house.event_id, new_id(), "guests.csv", by="t", at=make.now())
        rows = [Row(n, [f"Guest {n}", f"R-{max(n, 3)}"]) for n in range(2, ROWS + 2)]
        await imports.stage(tx, house.id, import_id, rows, at=make.now())
        await imports.received(tx, house.id, import_id, ["name", "reference"], at=make.now())
        job = await imports.find(tx, house.id, import_id)
        named = ["name", "reference"]
        await imports.name_columns(tx, house.id, job, named, house.category_id, by="t", at=make.now())
    return import_id


async def find(house: House, import_id: UUID) -> Import:
    async with house.db.reading() as tx:
        return await imports.find(tx, house.id, import_id)


async def carried(
    house: House, environment: dict[str, str], import_id: UUID, chance: random.Random
) -> tuple[Import, int]:
    """Let workers take the import to its next rest; the first of them are killed in the middle of their work."""
    killed = 0
    while True:
        worker = launch_worker(environment)
        at = (await find(house, import_id)).reached
        while (job := await find(house, import_id)).state not in REST and (killed == KILLS or job.reached == at):  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # a worker begins when it is there, or ends what is left
        if job.state in REST:
            worker.stop()
            return job, killed
        await asyncio.sleep(chance.random() * 0.05)
        worker.kill()
        killed += 1


async def test_every_ticket_is_made_once_whatever_dies(alone: tuple[House, dict[str, str]]) -> None:
    house, environment = alone
    chance = random.Random(5)
    import_id = await staged(house)
    checked, killed = await carried(house, environment, import_id, chance)
    assert (checked.state, checked.faulty) == (ImportState.CHECKED, 10)
    async with house.db.transaction() as tx:
        await imports.begin_applying(tx, house.id, import_id, by="t", at=make.now())
    done, killed_again = await carried(house, environment, import_id, chance)
    assert killed + killed_again >= KILLS
    assert (done.state, done.tickets_made, done.cards_made, done.faulty) == (ImportState.DONE, ROWS - 10, ROWS - 10, 10)
    async with house.db.reading() as tx:
        counted = await tx.rows(COUNTED, house.id, import_id)
    assert tuple(counted[0]) == (ROWS - 10, ROWS - 10, ROWS - 10, ROWS - 10, ROWS - 10, 10)
    async with house.db.transaction() as tx:
        await imports.begin_undoing(tx, house.id, import_id, by="t", at=make.now(), reason="test")
    undone, _ = await carried(house, environment, import_id, chance)
    assert (undone.state, undone.tickets_removed, undone.tickets_kept) == (ImportState.UNDONE, ROWS - 10, 0)
    async with house.db.reading() as tx:
        counted = await tx.rows(COUNTED, house.id, import_id)
    assert tuple(counted[0]) == (0, 0, 0, 0, 0, 10)


COUNTED = """
    SELECT (SELECT count(*) FROM ticket WHERE organization_id = $1),
           (SELECT count(*) FROM card WHERE organization_id = $1),
           (SELECT count(*) FROM card_holder WHERE organization_id = $1),
           (SELECT count(*) FROM ticket_reference WHERE organization_id = $1),
           (SELECT sum(quantity_sold) FROM ticket_category WHERE organization_id = $1),
           (SELECT count(*) FROM import_row WHERE organization_id = $1 AND import_id = $2)
"""
