"""The line to PostgreSQL is cut while a commit is under way: with a retry key the truth is found, without it 503.

The commit waits for a standby that does not exist, and the line runs through a proxy that hangs up.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.migrations import runner
from tests import make
from tests.faults.gates import books, is_replayed, load, scan_body, wait_for
from tests.faults.test_postgres_gone import assert_unavailable
from tests.faults.wire import lines
from tests.make import House
from tests.postgres import Cluster, free_port, start_cluster
from tests.serving import Serving, serve

pytestmark = pytest.mark.slow

GATES = 8


class Proxy:
    """Between a process and PostgreSQL; it can hang up on both."""

    def __init__(self) -> None:
        self.port = free_port()
        self._open: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def running(self, postgres: int) -> AsyncGenerator[None]:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection("127.0.0.1", postgres)
            self._open |= {writer, back}
            with suppress(ConnectionError):
                await asyncio.gather(_pump(reader, back), _pump(there, writer))
            self._open -= {writer, back}

        async with await asyncio.start_server(connected, "127.0.0.1", self.port):
            yield
            self.cut()

    def cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def configure(cluster: Cluster, standby: str) -> None:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = local")
        connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'".encode())
        connection.execute("SELECT pg_reload_conf()")


def commits_waiting(cluster: Cluster) -> int:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        ((count,),) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        ).fetchall()
    return count


@pytest.fixture
async def place(settings_env: dict[str, str]) -> AsyncGenerator[tuple[Cluster, Proxy, Serving, House]]:
    cluster, proxy = start_cluster(), Proxy()
    url = cluster.create_database("gatepass_cut")
    runner.upgrade(url)
    db = Database(url, deadline=20)
    house = await make.house(db)
    async with proxy.running(cluster.port):
        through = url.replace(f":{cluster.port}/", f":{proxy.port}/")
        serving = await asyncio.to_thread(serve, {**settings_env, "GATEPASS_DATABASE_URL": through}, free_port())
        yield cluster, proxy, serving, house
        await asyncio.to_thread(serving.stop)
    await db.close()
    cluster.stop()


@pytest.mark.parametrize("after", ["the commit is through", "a while"])
async def test_the_line_is_cut_while_a_commit_waits(place: tuple[Cluster, Proxy, Serving, House], after: str) -> None:
    """Every second gate has a retry key. No scan is written down twice, and nobody is told a lie."""
    cluster, proxy, serving, house = place
    numbers = await load(house, GATES)
    keys = [f"key {n}" if n % 2 else None for n in range(GATES)]
    async with lines((serving,), (await house.key()).text, GATES) as opened:
        opened[0].send(scan_body(house, {"card_number": (await load(house, 1))[0]}, "first"))
        assert (await opened[0].answer()).status_code == 200  # from now on the API key is remembered
        configure(cluster, "nobody")
        for line, number, key in zip(opened, numbers, keys, strict=True):
            line.send(scan_body(house, {"card_number": number}, "gate"), key)

        async def a_commit_waits() -> bool:
            return await asyncio.to_thread(commits_waiting, cluster) > 0

        await wait_for(a_commit_waits)
        proxy.cut()
        if after == "the commit is through":
            configure(cluster, "")
            answers = [await line.answer() for line in opened]
        else:  # whoever looks again meets the first commit, which still holds its locks
            first = asyncio.gather(*(line.answer() for line in opened))
            await asyncio.wait([first], timeout=1)
            configure(cluster, "")
            answers = await first

        found = await books(house)
        assert max(Counter(number for number, verdict in found.scans.values() if verdict == "activated").values()) == 1
        for answer, number, key in zip(answers, numbers, keys, strict=True):
            if answer.status_code == 200:
                assert found.tickets[number].activated_at is not None
            else:
                assert_unavailable(answer)
            if key and after == "the commit is through":
                assert answer.status_code == 200
        for line, number, key in zip(opened, numbers, keys, strict=True):
            line.send(scan_body(house, {"card_number": number}, "gate"), key)
        again = [await line.answer() for line in opened]
    for answer, one, key in zip(answers, again, keys, strict=True):
        assert one.status_code == (200 if key else 409) or (answer.status_code == 503 and one.status_code == 200)
        if key and answer.status_code == 200:
            assert is_replayed(one)
            assert one.content == answer.content
