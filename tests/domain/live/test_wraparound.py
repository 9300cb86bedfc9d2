"""Transaction numbers come round after four thousand million; the door does not notice."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.migrations import runner
from tests import make
from tests.domain.door.reading import reader_of
from tests.domain.door.test_tally import activate, key_of, scan
from tests.postgres import start_cluster

EPOCH = 7
# Enough for the migrations; the rest is used up before the test begins.
BEFORE_THE_TURN = 3_000
LEFT = 18


@pytest.fixture
async def near_the_turn() -> AsyncGenerator[Database]:
    """A database of its own whose next transactions have the last numbers before they begin anew."""
    cluster = start_cluster()
    data = cluster.folder / "data"
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute("VACUUM FREEZE")
    cluster.run("pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")
    _make_room_for_the_last_numbers(data)
    cluster.run("pg_resetwal", "-D", str(data), "-e", str(EPOCH), "-x", str(2**32 - BEFORE_THE_TURN))
    cluster.start()
    url = cluster.create_database("gatepass_turn")
    runner.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        while (connection.execute(NEXT).fetchall()[0][0] + LEFT) >> 32 == EPOCH:
            pass
    database = Database(url, deadline=20)
    yield database
    await database.close()
    cluster.stop()


NEXT = "SELECT pg_current_xact_id()::text::bigint"


def _make_room_for_the_last_numbers(data: Path) -> None:
    """PostgreSQL makes the file of a number when it comes to it in order, which it does not here."""
    first = data / "pg_xact" / "0000"
    last = first.with_name("0FFF")
    last.write_bytes(bytes(256 * 1024))
    os.chown(last, first.stat().st_uid, first.stat().st_gid)


async def test_the_tally_is_the_count_while_the_numbers_come_round(near_the_turn: Database) -> None:
    house = await make.house(near_the_turn)
    key_id, cards = await key_of(house), [await house.card() for _ in range(10)]
    reader = reader_of(house)
    first = await reader.begin()
    for number, card in enumerate(cards, 1):
        async with house.db.transaction() as tx:
            await activate(tx, [scan(house, key_id, card.number)])
            assert (await reader.look()).total_activated == number - 1
        assert (await reader.look()).total_activated == number
    oldest = [int(tally.seen.split(":")[0]) >> 32 for tally in (first, reader.tally)]
    assert oldest == [EPOCH, EPOCH + 1]
