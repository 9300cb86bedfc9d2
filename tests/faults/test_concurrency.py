"""Many gates, one ticket: over two processes, exactly one scan activates it, and every other is told who did.

The mutants at the end are the negative control: each breaks one promise of `activation.sql`, and the same
checks must find it out.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.domain.tickets import activation
from gatepass.migrations import runner
from tests import make
from tests.faults.conftest import Pair, launch_pair
from tests.faults.fights import complaints_of_race, complaints_of_twins, fight
from tests.faults.gates import load
from tests.make import House
from tests.postgres import Cluster

WAYS = ("card_number", pytest.param("token", marks=pytest.mark.slow))
SQL = Path(activation.__file__).with_suffix(".sql").read_text()
# A race is a matter of luck: two batches meet, one of each process, and on a busy machine one may be through before
# the other begins. The first round that finds the mutant out ends the test.
ROUNDS = 60


@pytest.mark.parametrize("way", WAYS)
async def test_one_of_twenty_gates_wins(pair: Pair, house: House, way: str) -> None:
    fights = await fight(pair, house, await load(house, 50), way=way, one_key=False)
    assert await complaints_of_race(house, fights) == []


@pytest.mark.parametrize("way", WAYS)
async def test_twenty_sendings_of_one_scan_are_one_scan(pair: Pair, house: House, way: str) -> None:
    fights = await fight(pair, house, await load(house, 50), way=way, one_key=True)
    assert await complaints_of_twins(house, fights, status=200, verdict="activated") == []


async def test_twenty_sendings_of_one_refused_scan_are_one_refusal(pair: Pair, house: House) -> None:
    assert await _twins_refused(pair, house, 20) == []


async def _race(pair: Pair, house: House, count: int) -> list[str]:
    return await complaints_of_race(house, await fight(pair, house, await load(house, count), one_key=False))


async def _twins(pair: Pair, house: House, count: int) -> list[str]:
    fights = await fight(pair, house, await load(house, count), one_key=True)
    return await complaints_of_twins(house, fights, status=200, verdict="activated")


async def _twins_refused(pair: Pair, house: House, count: int) -> list[str]:
    numbers = await load(house, count)
    await fight(pair, house, numbers, one_key=False, gates=1)
    fights = await fight(pair, house, numbers, one_key=True)
    return await complaints_of_twins(house, fights, status=409, verdict="already_activated")


@dataclass(frozen=True)
class Mutant:
    """A copy of activation.sql in which one thing is wrong."""

    name: str
    right: str
    wrong: str
    check: Callable[[Pair, House, int], Awaitable[list[str]]]

    def sql(self) -> str:
        assert SQL.count(self.right) == 1, f"activation.sql has changed: mend the mutant '{self.name}'"
        return SQL.replace(self.right, self.wrong)


MUTANTS = (
    Mutant(
        "the update takes a ticket that is taken",
        "       AND t.activated_at IS NULL\n       AND t.cancelled_at IS NULL;",
        "       AND t.cancelled_at IS NULL;",
        _race,
    ),
    # Twins of a scan that activates are kept apart by the ticket's row as well; twins of a refusal only by the lock.
    Mutant(
        "twins do not wait for each other",
        "PERFORM pg_advisory_xact_lock(key.lock)",
        "PERFORM key.lock",
        _twins_refused,
    ),
    Mutant(
        "answers are not remembered",
        "WHERE a.retry_key IS NOT NULL AND NOT a.is_replay",
        "WHERE false",
        _twins,
    ),
    # The audit row is what makes a replay a transaction that wrote something (rule 1 of the transaction).
    Mutant(
        "a replay writes nothing",
        "a.event_id, a.card_id\n          FROM answer a\n",
        "a.event_id, a.card_id\n          FROM answer a\n         WHERE NOT a.is_replay\n",
        _twins,
    ),
)


@dataclass
class Scratch:
    url: str
    db: Database
    pair: Pair

    def install(self, sql: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.encode())


@pytest.fixture(scope="module")
async def scratch(cluster: Cluster, settings_env: dict[str, str]) -> AsyncGenerator[Scratch]:
    """A database that may be spoilt, and two processes on it."""
    url = cluster.create_database("gatepass_spoilt")
    runner.upgrade(url)
    db = Database(url, deadline=20)
    pair = launch_pair({**settings_env, "GATEPASS_DATABASE_URL": url})
    yield Scratch(url, db, pair)
    for serving in pair:
        serving.stop()
    await db.close()


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
async def test_a_mutant_is_found_out(scratch: Scratch, mutant: Mutant) -> None:
    house = await make.house(scratch.db)
    assert await mutant.check(scratch.pair, house, 2) == [], "the check must pass before the mutation"
    scratch.install(mutant.sql())
    try:
        for _ in range(ROUNDS):
            if await mutant.check(scratch.pair, house, 5):
                return
        pytest.fail(f"nobody noticed that {mutant.name}")
    finally:
        scratch.install(SQL)
