"""PostgreSQL dies, crashes, freezes, fails over, under a process that serves. Nobody is told a lie, and it comes back.

The server is one of our own, and it syncs to disk: what was answered has to survive a kill.
"""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass

import httpx2
import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.base.settings import Settings
from gatepass.migrations import runner
from tests import make
from tests.api.endpoints import ALL
from tests.faults.gates import books, client_of, is_replayed, load, request_id, scan_body, wait_for
from tests.faults.wire import Answer, Line, lines
from tests.make import House
from tests.postgres import Cluster, free_port, start_cluster
from tests.serving import Serving, serve

pytestmark = pytest.mark.slow

# After it is there again, the first good answer has to come within this.
BACK_WITHIN = 2.0
CONNECTIONS = Settings.model_fields["database_connections"].default


@dataclass
class Place:
    """A PostgreSQL, a process that serves from it, and an organization with a key."""

    cluster: Cluster
    serving: Serving
    house: House
    key: str

    def run(self, sql: str) -> None:
        with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
            connection.execute(sql.encode())

    async def until_it_serves(self, client: httpx2.AsyncClient) -> float:
        """Ask until the answer is good; how long it took."""
        began = time.monotonic()

        async def serves() -> bool:
            answer = await client.get("/events")
            assert answer.status_code in {200, 503}, answer.text
            return answer.status_code == 200

        await wait_for(serves)
        return time.monotonic() - began


@pytest.fixture(scope="module")
async def place(settings_env: dict[str, str]) -> AsyncGenerator[Place]:
    cluster = start_cluster(settings={"fsync": "on"})
    url = cluster.create_database("gatepass_gone")
    runner.upgrade(url)
    db = Database(url, deadline=20)
    house = await make.house(db)
    serving = serve({**settings_env, "GATEPASS_DATABASE_URL": url}, free_port())
    yield Place(cluster, serving, house, (await house.key()).text)
    serving.stop()
    await db.close()
    cluster.stop()


@pytest.fixture(autouse=True)
def no_trace(place: Place) -> Generator[None]:
    """Whatever happened, the process is the same one, and it logged no fault of ours."""
    pid, seen = place.serving.process.pid, len(place.serving.lines)
    yield
    assert place.serving.is_alive()
    assert place.serving.process.pid == pid
    faults = [line for line in place.serving.lines[seen:] if "unhandled" in line or '"status": 500' in line]
    assert [line[-300:] for line in faults] == []


def assert_unavailable(answer: httpx2.Response | Answer) -> None:
    assert answer.status_code == 503, answer.content
    assert answer.json()["code"] == "unavailable"
    assert answer.headers["x-svc-should-retry"] == "true"
    assert int(answer.headers["Retry-After"]) >= 1
    assert answer.headers["x-request-id"].startswith("req_")


async def scan_all(place: Place, numbers: list[str], until: asyncio.Event) -> dict[str, Answer]:
    """Scan each card until it has a definite answer or `until` is set. Never is there another than 200 and 503."""
    told: dict[str, Answer] = {}
    waiting = list(numbers)

    async def gate(line: Line) -> None:
        while waiting and not until.is_set():
            number = waiting.pop()
            line.send(scan_body(place.house, {"card_number": number}, "north"), f"retry of {number}")
            answer = await line.answer()
            assert answer.status_code in {200, 503}, answer.content
            if answer.status_code == 200:
                told[number] = answer
            else:
                waiting.insert(0, number)

    async with lines((place.serving,), place.key, 16) as opened:
        await asyncio.gather(*(gate(line) for line in opened))
    return told


async def assert_nothing_is_lost(place: Place, numbers: list[str], told: dict[str, Answer]) -> None:
    """Each answer is in the database, the rest is found out by a retry, and each ticket was activated once."""
    found = await books(place.house)
    for number, answer in told.items():
        assert str(found.tickets[number].id) == answer.json()["data"]["ticket_id"]
        assert found.tickets[number].activated_at is not None, "an acknowledged activation is gone"
    again = await scan_all(place, numbers, asyncio.Event())
    assert again.keys() == set(numbers)
    found = await books(place.house)
    for number in numbers:
        assert found.verdicts(number) == {"activated": 1}
        by = found.tickets[number].activated_by
        assert by in found.audit
        assert is_replayed(again[number]) == (by != request_id(again[number]))
        if number in told:
            assert again[number].content == told[number].content


async def test_postgres_is_killed_and_comes_back(place: Place) -> None:
    numbers, over = await load(place.house, 400), asyncio.Event()
    scanning = asyncio.create_task(scan_all(place, numbers, over))

    async def some_are_activated() -> bool:
        return sum(ticket.activated_at is not None for ticket in (await books(place.house)).tickets.values()) >= 20

    await wait_for(some_are_activated)
    await asyncio.to_thread(place.cluster.kill)
    async with client_of(place.serving, place.key) as client:
        for endpoint in ALL:
            assert_unavailable(await endpoint.call(client))
        assert (await client.get(place.serving.url + "/livez")).status_code == 200
        assert (await client.get(place.serving.url + "/readyz")).status_code == 503
        await asyncio.to_thread(place.cluster.start)
        assert await place.until_it_serves(client) < BACK_WITHIN
        assert (await client.get(place.serving.url + "/readyz")).status_code == 200
    over.set()
    await assert_nothing_is_lost(place, numbers, await scanning)


async def test_postgres_is_restarted_by_an_operator(place: Place) -> None:
    numbers = await load(place.house, 200)
    scanning = asyncio.create_task(scan_all(place, numbers, asyncio.Event()))
    data = str(place.cluster.folder / "data")
    await asyncio.to_thread(place.cluster.run, "pg_ctl", "-D", data, "-m", "fast", "-w", "restart")
    await assert_nothing_is_lost(place, numbers, await scanning)


async def test_one_backend_crashes_and_takes_the_others_along(place: Place) -> None:
    """PostgreSQL then ends every session with 57P02 and recovers; the gates are told to try again."""
    numbers = await load(place.house, 200)
    scanning = asyncio.create_task(scan_all(place, numbers, asyncio.Event()))
    with pytest.raises(psycopg.OperationalError):
        await asyncio.to_thread(place.run, "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'")
    await assert_nothing_is_lost(place, numbers, await scanning)


async def test_postgres_freezes(place: Place) -> None:
    """Nothing is closed and nothing answers: our own deadline ends the wait, and the outcome is unknown."""
    (number,) = await load(place.house, 1)
    async with client_of(place.serving, place.key) as client, lines((place.serving,), place.key, 1) as (line,):
        assert (await client.get("/events")).status_code == 200
        place.cluster.signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            line.send(scan_body(place.house, {"card_number": number}, "north"), "frozen")
            assert (await client.get(place.serving.url + "/livez")).status_code == 200
            assert_unavailable(await line.answer())
            assert 2.5 < time.monotonic() - began < 4.5
        finally:
            place.cluster.signal(signal.SIGCONT)
        assert await place.until_it_serves(client) < BACK_WITHIN
        line.send(scan_body(place.house, {"card_number": number}, "north"), "frozen")
        assert (await line.answer()).status_code == 200
    assert (await books(place.house)).verdicts(number) == {"activated": 1}


async def test_a_session_that_may_only_read_is_given_up(place: Place) -> None:
    """As after a failover, when the old primary still answers: the next call has to find the new one."""
    (number,) = await load(place.house, 1)
    async with client_of(place.serving, place.key) as client, lines((place.serving,), place.key, 1) as (line,):
        place.run("ALTER DATABASE gatepass_gone SET default_transaction_read_only = on")
        place.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatepass api'")
        try:
            await place.until_it_serves(client)
            line.send(scan_body(place.house, {"card_number": number}, "north"), "read only")
            assert_unavailable(await line.answer())
        finally:
            place.run("ALTER DATABASE gatepass_gone RESET ALL")

        # At most one more call can meet each session that was open; then all of them are given up.
        told: list[int] = []
        while 200 not in told and len(told) <= CONNECTIONS:
            line.send(scan_body(place.house, {"card_number": number}, "north"), "read only")
            told.append((await line.answer()).status_code)
        assert told[-1] == 200
    assert (await books(place.house)).verdicts(number) == {"activated": 1}
