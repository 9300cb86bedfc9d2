"""Many gates, one ticket: over two processes, exactly one scan activates it, and the answers to all others name it.

The mutants at the end are the negative control: each breaks one rule of `activation.sql`, and the same
checks must find it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.domain.tickets import activation
from tests import factory
from tests.factory import Tenant
from tests.faults.conftest import Pair, launch_pair
from tests.faults.gates import load
from tests.faults.races import faults_of_duplicates, faults_of_race, race
from tests.postgres import Cluster

WAYS = ("card_number", "token")
SQL = Path(activation.__file__).with_suffix(".sql").read_text()
# A race may not happen: two batches meet, one of each process, and on a busy machine one may be done before
# the other begins. The first round that finds the mutant ends the test.
ROUNDS = 60


@pytest.mark.parametrize("way", WAYS)
async def test_one_of_twenty_gates_wins(pair: Pair, tenant: Tenant, way: str) -> None:
    races = await race(pair, tenant, await load(tenant, 50), way=way, one_key=False)
    assert await faults_of_race(tenant, races) == []


@pytest.mark.parametrize("way", WAYS)
async def test_twenty_sendings_of_one_scan_are_one_scan(pair: Pair, tenant: Tenant, way: str) -> None:
    races = await race(pair, tenant, await load(tenant, 50), way=way, one_key=True)
    assert await faults_of_duplicates(tenant, races, status=200, verdict="activated") == []


async def test_twenty_sendings_of_one_refused_scan_are_one_refusal(pair: Pair, tenant: Tenant) -> None:
    assert await _duplicates_refused(pair, tenant, 20) == []


async def _race(pair: Pair, tenant: Tenant, count: int) -> list[str]:
    return await faults_of_race(tenant, await race(pair, tenant, await load(tenant, count), one_key=False))


async def _duplicates(pair: Pair, tenant: Tenant, count: int) -> list[str]:
    races = await race(pair, tenant, await load(tenant, count), one_key=True)
    return await faults_of_duplicates(tenant, races, status=200, verdict="activated")


async def _duplicates_refused(pair: Pair, tenant: Tenant, count: int) -> list[str]:
    numbers = await load(tenant, count)
    await race(pair, tenant, numbers, one_key=False, gates=1)
    races = await race(pair, tenant, numbers, one_key=True)
    return await faults_of_duplicates(tenant, races, status=409, verdict="already_activated")


@dataclass(frozen=True)
class Mutant:
    """A copy of activation.sql in which one thing is wrong."""

    name: str
    right: str
    wrong: str
    check: Callable[[Pair, Tenant, int], Awaitable[list[str]]]

    def sql(self) -> str:
        assert SQL.count(self.right) == 1, f"activation.sql has changed: update the mutant '{self.name}'"
        return SQL.replace(self.right, self.wrong)


MUTANTS = (
    Mutant(
        "the update takes a ticket that is taken",
        "       AND t.activated_at IS NULL\n       AND t.cancelled_at IS NULL;",
        "       AND t.cancelled_at IS NULL;",
        _race,
    ),
    # Duplicates of a scan that activates are serialized by the ticket's row too; those of a refusal only by the lock.
    Mutant(
        "duplicates do not wait for each other",
        "PERFORM pg_advisory_xact_lock(key.lock)",
        "PERFORM key.lock",
        _duplicates_refused,
    ),
    Mutant(
        "answers are not stored",
        "WHERE a.idempotency_key IS NOT NULL AND NOT a.is_replay",
        "WHERE false",
        _duplicates,
    ),
    # The row of the request log makes a replay a transaction that wrote something (rule 1 of the transaction).
    Mutant(
        "a replay writes nothing",
        "WHERE p_statuses IS NOT NULL  -- the upload",
        "WHERE p_statuses IS NOT NULL AND NOT a.is_replay  -- the upload",
        _duplicates,
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
    """A database for mutants, and two processes on it."""
    url = cluster.create_migrated("gatepass_mutants")
    db = factory.database(url)
    pair = launch_pair({**settings_env, "GATEPASS_DATABASE_URL": url})
    yield Scratch(url, db, pair)
    for server in pair:
        server.stop()
    await db.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
async def test_a_mutant_is_found(scratch: Scratch, mutant: Mutant) -> None:
    tenant = await factory.tenant(scratch.db)
    assert await mutant.check(scratch.pair, tenant, 2) == [], "the check must pass before the mutation"
    scratch.install(mutant.sql())
    try:
        for _ in range(ROUNDS):
            if await mutant.check(scratch.pair, tenant, 5):
                return
        pytest.fail(f"no check noticed that {mutant.name}")
    finally:
        scratch.install(SQL)
