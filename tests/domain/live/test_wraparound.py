"""Transaction ids wrap around after 4 billion; live totals stay exact."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.migrations import runner
from tests import factory
from tests.domain.live.live_reader import reader_of
from tests.domain.live.test_totals import activate, key_of, scan
from tests.postgres import start_cluster

EPOCH = 7
# Enough transaction ids for the migrations and the cards; the test uses up the rest, but for half as many as it scans.
BEFORE_WRAPAROUND = 3_000
LEFT = 5


@pytest.fixture
async def near_wraparound() -> AsyncGenerator[Database]:
    """A database of its own whose next transactions get the last ids before the wraparound."""
    cluster = start_cluster()
    data = cluster.folder / "data"
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute("VACUUM FREEZE")
    cluster.run("pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")
    _make_file_of_the_last_ids(data)
    cluster.run("pg_resetwal", "-D", str(data), "-e", str(EPOCH), "-x", str(2**32 - BEFORE_WRAPAROUND))
    cluster.start()
    url = cluster.create_database("gatepass_turn")
    runner.upgrade(url)
    database = factory.database(url)
    yield database
    await database.close()
    cluster.stop()


NEXT = "SELECT pg_current_xact_id()::text::bigint"


async def use_up_ids(db: Database) -> None:
    async with db.autocommit() as tx:
        while (await tx.value(NEXT) + LEFT) >> 32 == EPOCH:
            pass


def _make_file_of_the_last_ids(data: Path) -> None:
    """PostgreSQL creates the file of an id when ids reach it in order, which they do not here."""
    first = data / "pg_xact" / "0000"
    last = first.with_name("0FFF")
    last.write_bytes(bytes(256 * 1024))
    os.chown(last, first.stat().st_uid, first.stat().st_gid)


async def test_the_tally_is_the_count_while_the_numbers_come_round(near_wraparound: Database) -> None:
    tenant = await factory.tenant(near_wraparound)
    key_id, cards = await key_of(tenant), [await tenant.card() for _ in range(10)]
    reader = reader_of(tenant)
    await use_up_ids(near_wraparound)
    first = await reader.begin()
    for number, card in enumerate(cards, 1):
        async with tenant.db.transaction() as tx:
            await activate(tx, [scan(tenant, key_id, card.number)])
            assert (await reader.look()).total_activated == number - 1
        assert (await reader.look()).total_activated == number
    oldest = [int(totals.seen.split(":")[0]) >> 32 for totals in (first, reader.totals)]
    assert oldest == [EPOCH, EPOCH + 1]
