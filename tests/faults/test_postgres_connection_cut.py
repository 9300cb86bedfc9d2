"""The connection to PostgreSQL is cut during a commit: with an idempotency key the outcome is found, without it 503.

The commit waits for a standby that does not exist, and the connection goes through a proxy that closes it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import suppress

import httpx2
import psycopg
import pytest

from tests import factory
from tests.factory import Tenant
from tests.faults.gates import DEADLINE, database_state, is_replayed, load, scan_body, wait_for
from tests.faults.http_client import connections
from tests.faults.test_postgres_gone import assert_unavailable
from tests.postgres import Cluster, free_port, start_cluster
from tests.postgres_proxy import Proxy
from tests.processes import GatepassProcess
from tests.warm.processes import serve

GATES = 8


def configure(cluster: Cluster, standby: str) -> None:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = local")
        connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'".encode())
        connection.execute("SELECT pg_reload_conf()")


async def make_commits_wait(cluster: Cluster) -> None:
    """Until the checkpointer has read its settings, commits go on without a standby."""
    configure(cluster, "nobody")
    told: list[psycopg.errors.Diagnostic] = []
    async with await psycopg.AsyncConnection.connect(cluster.url(), autocommit=True) as connection:
        connection.add_notice_handler(told.append)
        while not told:
            commit = asyncio.create_task(connection.execute("SELECT pg_logical_emit_message(true, '', '')"))
            await asyncio.wait([commit], timeout=0.05)
            await connection.cancel_safe()
            with suppress(psycopg.errors.QueryCanceled):
                await commit


def commits_waiting(cluster: Cluster) -> int:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        ((count,),) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        ).fetchall()
    return count


@pytest.fixture
async def stack(settings_env: dict[str, str]) -> AsyncGenerator[tuple[Cluster, Proxy, GatepassProcess, Tenant]]:
    cluster, proxy = start_cluster(), Proxy()
    url = cluster.create_migrated("gatepass_cut")
    db = factory.database(url)
    tenant = await factory.tenant(db)
    async with proxy.running(cluster.port):
        through = url.replace(f":{cluster.port}/", f":{proxy.port}/")
        server = await asyncio.to_thread(
            serve,
            {**settings_env, "GATEPASS_DATABASE_URL": through, "GATEPASS_DATABASE_DEADLINE": DEADLINE},
            free_port(),
        )
        yield cluster, proxy, server, tenant
        await asyncio.to_thread(server.stop)
    await db.close()
    cluster.stop()


@pytest.mark.parametrize("after", ["the commit is through", "a while"])
async def test_the_connection_is_cut_while_a_commit_waits(
    stack: tuple[Cluster, Proxy, GatepassProcess, Tenant], after: str
) -> None:
    """Every second gate sends an idempotency key. No scan is recorded twice, and no answer is false."""
    cluster, proxy, server, tenant = stack
    numbers = await load(tenant, GATES)
    keys = [f"key {n}" if n % 2 else None for n in range(GATES)]
    async with connections((server,), (await tenant.key()).text, GATES) as opened:
        opened[0].send(scan_body(tenant, {"card_number": (await load(tenant, 1))[0]}, "first"))
        assert (await opened[0].answer()).status_code == 200  # from now on the API key is cached
        await make_commits_wait(cluster)
        for connection, number, key in zip(opened, numbers, keys, strict=True):
            connection.send(scan_body(tenant, {"card_number": number}, "gate"), key)

        async def a_commit_waits() -> bool:
            return await asyncio.to_thread(commits_waiting, cluster) > 0

        await wait_for(a_commit_waits)
        proxy.cut()
        if after == "the commit is through":
            configure(cluster, "")
            answers = [await connection.answer() for connection in opened]
        else:  # the second try meets the first commit, which still holds its locks
            first = asyncio.gather(*(connection.answer() for connection in opened))
            await asyncio.wait([first], timeout=1)
            configure(cluster, "")
            answers = await first

        found = await database_state(tenant)
        assert max(Counter(number for number, verdict in found.scans.values() if verdict == "activated").values()) == 1
        for answer, number, key in zip(answers, numbers, keys, strict=True):
            if answer.status_code == 200:
                assert found.tickets[number].activated_at is not None
            else:
                assert_unavailable(answer)
            if key and after == "the commit is through":
                assert answer.status_code == 200
        for connection, number, key in zip(opened, numbers, keys, strict=True):
            connection.send(scan_body(tenant, {"card_number": number}, "gate"), key)
        again = [await connection.answer() for connection in opened]
    for answer, one, key in zip(answers, again, keys, strict=True):
        assert one.status_code == (200 if key else 409) or (answer.status_code == 503 and one.status_code == 200)
        if key and answer.status_code == 200:
            assert is_replayed(one)
            assert one.content == answer.content


async def test_the_feed_tells_nothing_that_is_on_one_server_alone(
    stack: tuple[Cluster, Proxy, GatepassProcess, Tenant],
) -> None:
    """A commit waits for a standby, and its session is ended: PostgreSQL keeps it, shows it, and may yet lose it."""
    cluster, _, server, tenant = stack
    first, second = await load(tenant, 2)
    key = (await tenant.key()).text
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        connections((server,), key, 2) as (gate, other),
        httpx2.AsyncClient(base_url=server.base_url, headers=headers) as client,
    ):
        assert (await client.get("/webhook-events")).json()["data"] == []  # from now on messages are written
        gate.send(scan_body(tenant, {"card_number": first}, "gate"))
        assert (await gate.answer()).status_code == 200
        (told,) = (await client.get("/webhook-events")).json()["data"]
        await make_commits_wait(cluster)
        other.send(scan_body(tenant, {"card_number": second}, "gate"))
        await give_up_a_commit(cluster)

        async def is_visible() -> bool:
            return (await database_state(tenant)).tickets[second].activated_at is not None

        await wait_for(is_visible)
        assert_unavailable(await client.get("/webhook-events"))
        configure(cluster, "")

        async def is_told() -> bool:
            answer = await client.get("/webhook-events")
            return answer.status_code == 200 and len(answer.json()["data"]) == 2

        await wait_for(is_told)
        assert (await client.get("/webhook-events")).json()["data"][0] == told


async def test_a_scan_that_is_on_one_server_alone_is_not_acknowledged(
    stack: tuple[Cluster, Proxy, GatepassProcess, Tenant],
) -> None:
    """Its session is ended while its commit waits, so it is run again under its key, and found: it may yet be lost."""
    cluster, _, server, tenant = stack
    first, second = await load(tenant, 2)
    async with connections((server,), (await tenant.key()).text, 1) as (gate,):
        gate.send(scan_body(tenant, {"card_number": first}, "gate"))
        assert (await gate.answer()).status_code == 200  # from now on the API key is cached
        await make_commits_wait(cluster)
        gate.send(scan_body(tenant, {"card_number": second}, "gate"), "key")
        await give_up_a_commit(cluster)
        assert_unavailable(await gate.answer())
        configure(cluster, "")

        async def is_answered() -> bool:
            gate.send(scan_body(tenant, {"card_number": second}, "gate"), "key")
            return (await gate.answer()).status_code == 200

        await wait_for(is_answered)


async def give_up_a_commit(cluster: Cluster) -> None:
    """End the sessions whose commit waits for a standby, as soon as there is one."""

    async def is_given_up() -> bool:
        return await asyncio.to_thread(end_waiting_sessions, cluster) > 0

    await wait_for(is_given_up)


def end_waiting_sessions(cluster: Cluster) -> int:
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        return len(
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            ).fetchall()
        )
