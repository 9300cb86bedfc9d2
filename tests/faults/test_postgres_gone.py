"""PostgreSQL is killed, crashes, freezes or fails over. No answer is false, and the same process serves again.

PostgreSQL is one of our own, and syncs to disk: every answer has to survive a kill.
"""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass

import httpx2
import psycopg
import pytest

from gatepass.base.settings import Settings
from tests import factory
from tests.api.endpoints import ALL
from tests.factory import Tenant
from tests.faults.gates import DEADLINE, client_of, database_state, is_replayed, load, request_id, scan_body, wait_for
from tests.faults.http_client import Answer, Connection, connections
from tests.postgres import Cluster, free_port, start_cluster
from tests.processes import GatepassProcess
from tests.size import NIGHT
from tests.warm.processes import serve

# Seconds from the start of PostgreSQL to the first good answer, at most.
BACK_WITHIN = 2.0
CONNECTIONS = Settings.model_fields["database_connections"].default


@dataclass
class Service:
    """A PostgreSQL, a `gatepass serve` process on it, and an organization with a key."""

    cluster: Cluster
    server: GatepassProcess
    tenant: Tenant
    key: str

    def run(self, sql: str) -> None:
        with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
            connection.execute(sql.encode())

    async def until_it_serves(self, client: httpx2.AsyncClient) -> None:
        """Call until the answer is 200."""

        async def serves() -> bool:
            answer = await client.get("/events")
            assert answer.status_code in {200, 503}, answer.text
            return answer.status_code == 200

        await wait_for(serves, within=BACK_WITHIN if NIGHT else 60)


@pytest.fixture(scope="module")
async def service(settings_env: dict[str, str]) -> AsyncGenerator[Service]:
    cluster = start_cluster(settings={"fsync": "on"})
    url = cluster.create_migrated("gatepass_gone")
    db = factory.database(url)
    tenant = await factory.tenant(db)
    server = serve({**settings_env, "GATEPASS_DATABASE_URL": url, "GATEPASS_DATABASE_DEADLINE": DEADLINE}, free_port())
    yield Service(cluster, server, tenant, (await tenant.key()).text)
    server.stop()
    await db.close()
    cluster.stop()


@pytest.fixture(autouse=True)
def no_fault(service: Service) -> Generator[None]:
    """The process is still the same one, and has logged no fault of ours."""
    pid, seen = service.server.process.pid, len(service.server.lines)
    yield
    assert service.server.is_alive()
    assert service.server.process.pid == pid
    lines = service.server.lines[seen:]
    faults = [line for line in lines if "unhandled" in line or '"status": 500' in line]
    faults += [
        line for line in lines if '"status": 503' in line and '"path": "(unknown)"' not in line and "cause" not in line
    ]
    assert [line[-300:] for line in faults] == []


def assert_unavailable(answer: httpx2.Response | Answer) -> None:
    assert answer.status_code == 503, answer.content
    assert answer.json()["code"] == "unavailable"
    assert answer.headers["x-svc-should-retry"] == "true"
    assert int(answer.headers["Retry-After"]) >= 1
    assert answer.headers["x-request-id"].startswith("req_")


async def scan_all(service: Service, numbers: list[str], until: asyncio.Event) -> dict[str, Answer]:
    """Scan each card until it has a definite answer or `until` is set. No answer is other than 200 or 503."""
    answers: dict[str, Answer] = {}
    waiting = list(numbers)

    async def gate(connection: Connection) -> None:
        while waiting and not until.is_set():
            number = waiting.pop()
            connection.send(scan_body(service.tenant, {"card_number": number}, "north"), f"retry of {number}")
            answer = await connection.answer()
            assert answer.status_code in {200, 503}, answer.content
            if answer.status_code == 200:
                answers[number] = answer
            else:
                waiting.insert(0, number)

    async with connections((service.server,), service.key, 16) as opened:
        await asyncio.gather(*(gate(connection) for connection in opened))
    return answers


async def assert_nothing_is_lost(service: Service, numbers: list[str], answers: dict[str, Answer]) -> None:
    """Each answer is in the database, a retry finds the other outcomes, and each ticket was activated once."""
    found = await database_state(service.tenant)
    for number, answer in answers.items():
        assert str(found.tickets[number].id) == answer.json()["data"]["ticket_id"]
        assert found.tickets[number].activated_at is not None, "an acknowledged activation is gone"
    again = await scan_all(service, numbers, asyncio.Event())
    assert again.keys() == set(numbers)
    found = await database_state(service.tenant)
    for number in numbers:
        assert found.verdicts(number) == {"activated": 1}
        by = found.tickets[number].activated_by
        assert by in found.request_log
        assert is_replayed(again[number]) == (by != request_id(again[number]))
        if number in answers:
            assert again[number].content == answers[number].content


async def test_postgres_is_killed_and_comes_back(service: Service) -> None:
    numbers, over = await load(service.tenant, 400), asyncio.Event()
    scanning = asyncio.create_task(scan_all(service, numbers, over))

    async def some_are_activated() -> bool:
        return (
            sum(ticket.activated_at is not None for ticket in (await database_state(service.tenant)).tickets.values())
            >= 20
        )

    await wait_for(some_are_activated)
    await asyncio.to_thread(service.cluster.kill)
    async with client_of(service.server, service.key) as client:
        for endpoint in ALL:
            assert_unavailable(await endpoint.call(client))
        assert (await client.get(service.server.url + "/livez")).status_code == 200
        assert (await client.get(service.server.url + "/readyz")).status_code == 503
        await asyncio.to_thread(service.cluster.start)
        await service.until_it_serves(client)
        assert (await client.get(service.server.url + "/readyz")).status_code == 200
    over.set()
    await assert_nothing_is_lost(service, numbers, await scanning)


async def test_postgres_is_restarted_by_an_operator(service: Service) -> None:
    numbers = await load(service.tenant, 200)
    scanning = asyncio.create_task(scan_all(service, numbers, asyncio.Event()))
    data = str(service.cluster.folder / "data")
    await asyncio.to_thread(service.cluster.run, "pg_ctl", "-D", data, "-m", "fast", "-w", "restart")
    await assert_nothing_is_lost(service, numbers, await scanning)


async def test_one_backend_crashes_and_takes_the_others_along(service: Service) -> None:
    """PostgreSQL then ends every session with 57P02 and recovers; the gates are answered 503."""
    numbers = await load(service.tenant, 200)
    scanning = asyncio.create_task(scan_all(service, numbers, asyncio.Event()))
    with pytest.raises(psycopg.OperationalError):
        await asyncio.to_thread(service.run, "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'")
    await assert_nothing_is_lost(service, numbers, await scanning)


async def test_postgres_freezes(service: Service) -> None:
    """No connection is closed and nothing answers: our own deadline ends the wait, and the outcome is unknown."""
    first, number = await load(service.tenant, 2)
    async with (
        client_of(service.server, service.key) as client,
        connections((service.server,), service.key, 1) as (connection,),
    ):
        connection.send(scan_body(service.tenant, {"card_number": first}, "north"))
        assert (await connection.answer()).status_code == 200  # scans have a session now
        service.cluster.signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            connection.send(scan_body(service.tenant, {"card_number": number}, "north"), "frozen")
            assert (await client.get(service.server.url + "/livez")).status_code == 200
            assert_unavailable(await connection.answer())
            took = time.monotonic() - began
            assert took > 2.5
            if NIGHT:
                assert took < 4.5
        finally:
            service.cluster.signal(signal.SIGCONT)
        await service.until_it_serves(client)

        async def is_answered() -> bool:
            connection.send(scan_body(service.tenant, {"card_number": number}, "north"), "frozen")
            answer = await connection.answer()
            if answer.status_code != 200:
                assert_unavailable(answer)  # a busy disk may need longer than a call for its first sync
            return answer.status_code == 200

        await wait_for(is_answered)
    assert (await database_state(service.tenant)).verdicts(number) == {"activated": 1}


async def test_a_session_that_may_only_read_is_given_up(service: Service) -> None:
    """As after a failover, when the old primary still answers: the next call has to find the new one."""
    (number,) = await load(service.tenant, 1)
    async with (
        client_of(service.server, service.key) as client,
        connections((service.server,), service.key, 1) as (connection,),
    ):
        service.run("ALTER DATABASE gatepass_gone SET default_transaction_read_only = on")
        service.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatepass api'")
        try:
            await service.until_it_serves(client)
            connection.send(scan_body(service.tenant, {"card_number": number}, "north"), "read only")
            assert_unavailable(await connection.answer())
        finally:
            service.run("ALTER DATABASE gatepass_gone RESET ALL")

        # At most one more call can get each session that was open; then all of them are closed.
        answers: list[int] = []
        while 200 not in answers and len(answers) <= CONNECTIONS:
            connection.send(scan_body(service.tenant, {"card_number": number}, "north"), "read only")
            answers.append((await connection.answer()).status_code)
        assert answers[-1] == 200
    assert (await database_state(service.tenant)).verdicts(number) == {"activated": 1}
