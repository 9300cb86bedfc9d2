"""A process that is killed at a step of a batch: sent again with its key to another process, each item is made once."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.api.routes.test_tickets import wish
from tests.factory import Tenant
from tests.faults.batches.test_batch_cut import ITEMS, MOST_STEPS, CuttingProxy, counted, sent
from tests.faults.conftest import Pair
from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.size import FULL
from tests.warm.processes import serve

# A process takes seconds to start, so that only `make faults-full` kills one at each step.
STEPS = 1_000 if FULL else 5


class KillingProxy(CuttingProxy):
    """Kills the process instead, whose kernel then closes its connections."""

    victim: GatepassProcess | None = None

    def strike(self) -> None:
        if self.victim is not None:
            os.kill(self.victim.process.pid, signal.SIGKILL)


class HoldingProxy(CuttingProxy):
    """Passes the COMMIT of a call with an idempotency key on, and holds back the answer."""

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began = False
        while data := await reader.read(65536):
            began = began or b"take_idempotency_key" in data
            if began and b"COMMIT\0" in data:
                self.freeze()
            else:
                await self.flowing.wait()
            writer.write(data)
            await writer.drain()
        writer.close()


@pytest.fixture
async def proxy(database_url: str) -> AsyncGenerator[KillingProxy]:
    proxy = KillingProxy()
    proxy.postgres = urlsplit(database_url).port or 5432
    async with proxy.running(proxy.postgres):
        yield proxy


async def test_each_item_is_made_once(
    pair: Pair, proxy: KillingProxy, settings_env: dict[str, str], database_url: str, tenant: Tenant
) -> None:
    key = (await tenant.key()).text
    environment = {**settings_env, "GATEPASS_DATABASE_URL": proxy.url(database_url)}
    proxy.victim = await asyncio.to_thread(serve, environment, free_port())
    all_steps = await counted_steps(proxy, proxy.victim, tenant, key)
    proxy.victim.kill()
    # A step more or less goes to something else in the process, so that the last ones are left out.
    for round, step in enumerate(range(1, all_steps * 3 // 4, max(1, all_steps // STEPS)), 2):
        proxy.victim = await asyncio.to_thread(serve, environment, free_port())
        async with proxy.victim.client(key) as client:
            await client.get("/tickets")
            proxy.left = step
            with pytest.raises(httpx2.TransportError):
                await sent(client, batch(tenant, round), str(round))
        proxy.left = 0
        proxy.victim.kill()
        assert not await is_replayed(pair[1], tenant, key, round)


async def test_a_batch_that_was_committed_and_not_answered_is_found(
    pair: Pair, settings_env: dict[str, str], database_url: str, tenant: Tenant
) -> None:
    key, proxy = (await tenant.key()).text, HoldingProxy()
    async with proxy.running(urlsplit(database_url).port or 5432):
        environment = {**settings_env, "GATEPASS_DATABASE_URL": proxy.url(database_url)}
        victim = await asyncio.to_thread(serve, environment, free_port())
        async with victim.client(key) as client, asyncio.timeout(60):
            sending = asyncio.create_task(sent(client, batch(tenant, 1), "1"))
            while await counted(tenant) != (ITEMS,) * 4:
                assert not sending.done()
            victim.kill()
            with pytest.raises(httpx2.TransportError):
                await sending
    assert await is_replayed(pair[1], tenant, key, 1)


async def is_replayed(server: GatepassProcess, tenant: Tenant, key: str, round: int) -> bool:
    """Send the batch again; whether it had been committed. Each item is made once."""
    async with server.client(key) as client:
        answer = await sent(client, batch(tenant, round), str(round))
        while answer.status_code == 503:
            answer = await sent(client, batch(tenant, round), str(round))
    assert answer.status_code == 200, answer.text
    assert {result["status"] for result in answer.json()["data"]} == {201}
    assert await counted(tenant) == (round * ITEMS,) * 4
    return answer.headers.get("Idempotent-Replayed") == "true"


async def counted_steps(proxy: KillingProxy, victim: GatepassProcess, tenant: Tenant, key: str) -> int:
    """How often a batch sends something to PostgreSQL."""
    async with victim.client(key) as client:
        await client.get("/tickets")
        proxy.left = MOST_STEPS
        assert (await sent(client, batch(tenant, 1), "1")).status_code == 200
        left, proxy.left = proxy.left, 0
    return MOST_STEPS - left


def batch(tenant: Tenant, round: int) -> list[dict[str, object]]:
    return [
        wish(tenant, holder={"email": f"{round}-{n}@example.org"}, external_id=f"{round}-{n}") for n in range(ITEMS)
    ]
