"""The commit probe: a server that commits, one that only reads, one without its standbys, one that is gone."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Generator

import psycopg
import pytest

from gatepass.base.commit_probe import (
    DOES_NOT_ANSWER,
    DOES_NOT_COMMIT,
    FRESH,
    PROBE,
    READ_ONLY,
    CommitProbe,
)
from gatepass.base.database import Database
from gatepass.base.errors import Unavailable
from tests.faults.gates import wait_for
from tests.postgres import Cluster, free_port, start_cluster
from tests.postgres_proxy import Proxy
from tests.size import NIGHT

NAME = "commit probe"


@pytest.fixture(scope="module")
def own() -> Generator[Cluster]:
    """A server whose settings we may change."""
    started = start_cluster()
    yield started
    started.stop()


@pytest.fixture
async def probe(own: Cluster) -> AsyncGenerator[CommitProbe]:
    made = CommitProbe(own.url(), NAME)
    yield made
    await made.close()


def configure(cluster: Cluster, setting: str, value: str) -> None:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = local")
        connection.execute(f"ALTER SYSTEM SET {setting} = '{value}'".encode())
        connection.execute("SELECT pg_reload_conf()")


async def result(probe: CommitProbe) -> str | None:
    """A result that is not one of before."""
    await asyncio.sleep(FRESH)
    return await probe.trouble()


async def settled(probe: CommitProbe, wanted: str | None, *, within: float = FRESH + 1) -> None:
    """Wait until the probe says so; at night not for longer than this."""
    async with asyncio.timeout(within if NIGHT else 60):
        while await result(probe) != wanted:
            pass


async def test_a_server_that_commits(probe: CommitProbe) -> None:
    assert await probe.trouble() is None


async def test_standbys_that_are_gone_and_come_back(own: Cluster, probe: CommitProbe) -> None:
    assert await probe.trouble() is None
    configure(own, "synchronous_standby_names", "nobody")
    await settled(probe, DOES_NOT_COMMIT, within=3)
    for _ in range(3):
        assert await result(probe) == DOES_NOT_COMMIT
    assert waiting_for_standbys(own) <= 1, "a probe that was given up leaves no session behind"
    configure(own, "synchronous_standby_names", "")
    await settled(probe, None)


async def test_a_server_that_only_reads(own: Cluster, probe: CommitProbe) -> None:
    configure(own, "default_transaction_read_only", "on")
    try:
        await settled(probe, READ_ONLY, within=3)
    finally:
        configure(own, "default_transaction_read_only", "off")
    await settled(probe, None)


async def test_a_server_that_is_not_there() -> None:
    probe = CommitProbe(f"postgresql://postgres@127.0.0.1:{free_port()}/postgres", NAME)
    assert await probe.trouble() == DOES_NOT_ANSWER
    await probe.close()


async def test_a_server_that_freezes(own: Cluster) -> None:
    proxy = Proxy()
    async with proxy.running(own.port):
        probe = CommitProbe(proxy.url(own.url()), NAME)
        assert await probe.trouble() is None
        proxy.freeze()
        await settled(probe, DOES_NOT_COMMIT, within=3)
        proxy.cut()
        proxy.thaw()
        await settled(probe, None)
        await probe.close()


async def test_many_callers_make_one_probe(own: Cluster, probe: CommitProbe) -> None:
    configure(own, "full_page_writes", "off")  # after a checkpoint, each page of 8 kB is written whole
    await probe.trouble()
    before = written(own)
    await asyncio.sleep(FRESH)
    began = time.monotonic()
    while time.monotonic() - began < 2 * FRESH:
        assert await asyncio.gather(*(probe.trouble() for _ in range(100))) == [None] * 100
    assert written(own) - before < 10_000, "some small records of the log, not thousands"


async def test_while_no_commit_ends_none_is_begun(own: Cluster) -> None:
    """Each that is begun would leave a session on the server, until it has no room for more."""
    database = Database(own.url(), connections=4, deadline=0.5, name="stalled")
    configure(own, "synchronous_standby_names", "nobody")
    causes = Counter[str]()
    try:
        began = time.monotonic()
        while time.monotonic() - began < 5:
            causes += Counter(await asyncio.gather(*(commit(database) for _ in range(4))))
            await asyncio.sleep(0.05)
        assert sessions(own, "stalled") <= 16
        assert causes["stalled"] > causes["deadline"] > 0
        async with database.autocommit() as tx:
            assert await tx.value("SELECT 1") == 1, "reading goes on"
    finally:
        configure(own, "synchronous_standby_names", "")

    async def commits() -> bool:
        return await commit(database) == "committed"

    await wait_for(commits, within=60)
    await database.close()


async def commit(database: Database) -> str:
    try:
        async with database.transaction() as tx:
            await tx.value("SELECT pg_logical_emit_message(true, 'test', '')")
    except Unavailable as refusal:
        return refusal.cause
    return "committed"


def sessions(cluster: Cluster, name: str) -> int:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        ((count,),) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", (name,)
        ).fetchall()
    return count


def waiting_for_standbys(cluster: Cluster) -> int:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        ((count,),) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = %s", (PROBE,)
        ).fetchall()
    return count


def written(cluster: Cluster) -> int:
    """Bytes of the write-ahead log."""
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        ((position,),) = connection.execute("SELECT pg_current_wal_lsn() - '0/0'").fetchall()
    return int(position)
