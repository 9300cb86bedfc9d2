"""Behind PgBouncer in transaction mode: all of it works, or a call that cannot be served is 503 with its cause."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import httpx2
import pytest

from gatepass.base.database import Database
from tests import factory
from tests.base.pgbouncer import DEBIANS, KEEPS_NONE, KEEPS_STATEMENTS, newer, pgbouncer
from tests.factory import Tenant
from tests.faults.gates import client_of, database_state, load, scan
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, gatepass
from tests.receivers import receiving
from tests.warm.processes import launch_worker, serve

NAME = "gatepass_pooled"
PAST_IT = "past the pooler"
CARDS = 100
# The connections from PgBouncer to PostgreSQL.
POOLED = """
    SELECT count(*)
      FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND NOT starts_with(application_name, $1)
"""


def environment(url: str) -> dict[str, str]:
    return {
        "GATEPASS_DATABASE_URL": url,
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        "GATEPASS_LOG_LEVEL": "info",
    }


@pytest.fixture(scope="module")
async def direct(cluster: Cluster) -> AsyncGenerator[Database]:
    """The database past PgBouncer, to prepare and to check."""
    url = cluster.create_migrated(NAME)
    database = factory.database(url, name=PAST_IT)
    yield database
    await database.close()


@asynccontextmanager
async def all_held(through: str, direct: Database) -> AsyncGenerator[None]:
    """Every connection of the pool is in a transaction of ours, so that the next scan is on a new one."""
    other, held = factory.database(through), 0
    async with AsyncExitStack() as transactions:
        while await pooled(direct) > held:
            await transactions.enter_async_context(other.transaction())
            held += 1
        yield
    await other.close()


async def pooled(direct: Database) -> int:
    async with direct.autocommit() as tx:
        return await tx.value(POOLED, PAST_IT)


@contextmanager
def running(url: str) -> Generator[GatepassProcess]:
    server = serve({**environment(url), "GATEPASS_METRICS_PORT": str(free_port())}, free_port())
    yield server
    server.kill()


async def scan_all(server: GatepassProcess, tenant: Tenant, numbers: list[str]) -> Counter[int]:
    """Scan each card until it is activated; how often each status was answered."""
    key, statuses = (await tenant.key()).text, Counter[int]()

    async def gate(client: httpx2.AsyncClient, number: str) -> None:
        while True:
            answer = await scan(client, tenant, {"card_number": number}, idempotency_key=f"once {number}")
            statuses[answer.status_code] += 1
            assert answer.status_code in {200, 503}, answer.text
            if answer.status_code == 200:
                return

    async with client_of(server, key) as client:
        await asyncio.gather(*(gate(client, number) for number in numbers))
    return statuses


async def assert_each_is_activated_once(tenant: Tenant, numbers: list[str]) -> None:
    found = await database_state(tenant)
    assert all(found.verdicts(number) == {"activated": 1} for number in numbers)


async def test_all_of_it_works_behind_a_good_one(cluster: Cluster) -> None:
    url = cluster.create_database(f"{NAME}_good")
    with pgbouncer(cluster, f"{NAME}_good", newer(), **KEEPS_STATEMENTS) as through:
        for _ in range(2):
            assert "is at" in gatepass(environment(through), "migrate")
        direct = factory.database(url)
        tenant = await factory.tenant(direct)
        numbers = await load(tenant, CARDS)
        with running(through) as server:
            async with receiving() as receiver:
                await tenant.endpoint(receiver.url())
                worker = launch_worker(environment(through))
                assert await scan_all(server, tenant, numbers) == {200: CARDS}
                await receiver.wait(CARDS)
                assert worker.stop() == 0
            faults = [line for process in (server, worker) for line in process.lines if '"level": "error"' in line]
            assert faults == []
        await assert_each_is_activated_once(tenant, numbers)
        await direct.close()


@pytest.mark.parametrize("version", ["1.18", "1.24 told to keep none"])
async def test_one_that_keeps_no_prepared_statements_is_503_with_its_cause(
    cluster: Cluster, direct: Database, version: str
) -> None:
    tenant = await factory.tenant(direct)
    numbers = await load(tenant, CARDS)
    program, settings = (DEBIANS, {}) if version == "1.18" else (newer(), KEEPS_NONE)
    with pgbouncer(cluster, NAME, program, **settings) as through, running(through) as server:
        await scan_all(server, tenant, numbers[:1])
        async with all_held(through, direct):
            assert (await scan_all(server, tenant, numbers[1:]))[503] > 0
        lines = [line for line in server.lines if '"status": 503' in line]
        assert all('"cause"' in line for line in lines)
        assert any('"cause": "pooler"' in line for line in lines)
        assert not any('"status": 500' in line or "unhandled" in line for line in server.lines)
        metrics = httpx2.get(f"http://127.0.0.1:{server.metrics_port}/metrics").text
        assert re.search(r'gatepass_unavailable_total\{cause="pooler"\} [1-9]', metrics)
    await assert_each_is_activated_once(tenant, numbers)
