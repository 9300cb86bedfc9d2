"""PgBouncer in transaction mode: one that keeps prepared statements, and those that do not."""

import asyncio
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest

from gatepass.base.commit_probe import FRESH, NOT_PREPARED, CommitProbe
from gatepass.base.database import Database
from gatepass.base.errors import Unavailable
from tests.base.pgbouncer import DEBIANS, KEEPS_NONE, KEEPS_STATEMENTS, newer, pgbouncer
from tests.base.sessions import answers
from tests.base.writer import CALLS, CONNECTIONS
from tests.postgres import Cluster

pytestmark = pytest.mark.processes

NAME = "gatepass_pgbouncer"


@pytest.fixture(scope="module")
def direct(cluster: Cluster) -> str:
    url = cluster.create_database(NAME)
    with psycopg.connect(url, autocommit=True) as connection:
        for table in ("first", "second"):
            connection.execute(f"CREATE TABLE {table} (writer text)".encode())
    return url


@pytest.fixture(params=["1.18", "1.24 told to keep none"])
def forgetful(request: pytest.FixtureRequest, cluster: Cluster, direct: str) -> Generator[str]:
    """The database through a PgBouncer that keeps no prepared statements."""
    program, settings = (DEBIANS, {}) if request.param == "1.18" else (newer(), KEEPS_NONE)
    with pgbouncer(cluster, NAME, program, **settings) as through:
        yield through


@pytest.fixture
def good(cluster: Cluster, direct: str) -> Generator[str]:
    with pgbouncer(cluster, NAME, newer(), **KEEPS_STATEMENTS) as through:
        yield through


def written_by_two_processes(direct: str, through: str) -> tuple[dict[str, int], dict[str, int]]:
    """What both saw, and how many rows each table has; no row stands in the table of the other process."""
    with psycopg.connect(direct, autocommit=True) as connection:
        connection.execute("TRUNCATE first, second")
        command = [sys.executable, "-m", "tests.base.writer", through]
        running = [
            subprocess.Popen([*command, table], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
            for table in ("first", "second")
        ]
        seen: dict[str, int] = {}
        for process in running:
            told, _ = process.communicate(timeout=60)
            assert process.returncode == 0, "only refusals of ours"
            for cause, count in (word.split("=") for word in told.split()):
                seen[cause] = seen.get(cause, 0) + int(count)
        rows = connection.execute(
            "SELECT 'first', writer, count(*) FROM first GROUP BY writer"
            " UNION ALL SELECT 'second', writer, count(*) FROM second GROUP BY writer"
        ).fetchall()
    assert all(table == writer for table, writer, _ in rows), rows
    return seen, {table: count for table, _, count in rows}


def test_a_pooler_without_prepared_statements_refuses_and_never_runs_those_of_another_process(
    direct: str, forgetful: str
) -> None:
    seen, rows = written_by_two_processes(direct, forgetful)
    assert seen.keys() <= {"done", "pooler"}
    assert seen["pooler"] > 0
    assert sum(rows.values()) == seen["done"], "what was refused was not written"


def test_a_good_one_refuses_nothing(direct: str, good: str) -> None:
    seen, rows = written_by_two_processes(direct, good)
    assert seen == {"done": 2 * CONNECTIONS * CALLS}
    assert rows == {"first": CONNECTIONS * CALLS, "second": CONNECTIONS * CALLS}


async def moved(database: Database, url: str) -> None:
    """Let the database's connection run on another server connection than before."""
    other = Database(url)
    try:
        async with other.transaction() as tx:
            await tx.value("SELECT 1")  # on the server connection that was free last
            assert await answers(database)
    finally:
        await other.close()


async def test_a_statement_is_there_on_another_server_connection(good: str) -> None:
    database = Database(good, connections=1)
    assert await answers(database)
    await moved(database, good)
    await database.close()


async def test_without_prepared_statements_it_is_refused_with_its_cause(forgetful: str) -> None:
    database = Database(forgetful, connections=1)
    assert await answers(database)
    with pytest.raises(Unavailable) as refusal:
        await moved(database, forgetful)
    assert refusal.value.cause == "pooler"
    await database.close()


async def test_the_probe_names_the_pooler(forgetful: str) -> None:
    probe, other = CommitProbe(forgetful, "probe"), Database(forgetful)
    assert await probe.trouble() is None
    async with other.transaction() as tx:
        await tx.value("SELECT 1")
        await asyncio.sleep(FRESH)  # so long a success holds
        assert await probe.trouble() == NOT_PREPARED
    await probe.close()
    await other.close()
