"""A process that is killed at a step of a batch: sent again with its key to another process, each item is made once."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.api.routes.test_batch_cut import ITEMS, MOST_STEPS, CuttingProxy, counted, sent
from tests.api.routes.test_tickets import wish
from tests.factory import Tenant
from tests.faults.conftest import Pair
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve
from tests.size import FULL

pytestmark = pytest.mark.slow

# A process takes seconds to start, so that only `make full` kills one at each step.
STEPS = 1_000 if FULL else 5


class KillingProxy(CuttingProxy):
    """Kills the process instead. The connections close as the kernel closes those of a process that is gone."""

    victim: GatepassProcess | None = None
    at_commit: bool = False

    def is_the_step(self, data: bytes) -> bool:
        return b"COMMIT\0" in data if self.at_commit else super().is_the_step(data)

    def strike(self) -> None:
        if self.victim is not None:
            os.kill(self.victim.process.pid, signal.SIGKILL)


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
    # A step more or less goes to something else in the process, so that the last ones are left to the two commits.
    # PostgreSQL gets the second of these.
    steps = [*range(1, all_steps * 3 // 4, max(1, all_steps // STEPS)), "commit", "late commit"]
    committed = list[bool]()
    for round, step in enumerate(steps, 2):
        proxy.victim = await asyncio.to_thread(serve, environment, free_port())
        items = batch(tenant, round)
        async with proxy.victim.client(key) as client:
            await client.get("/tickets")
            proxy.left, proxy.at_commit, proxy.late = 0, isinstance(step, str), step == "late commit"
            if isinstance(step, int):
                proxy.left = step
            with pytest.raises(httpx2.TransportError):
                await sent(client, items, str(round))
        proxy.victim.kill()
        async with pair[1].client(key) as client:
            answer = await sent(client, items, str(round))
            while answer.status_code == 503:
                answer = await sent(client, items, str(round))
        assert answer.status_code == 200, answer.text
        assert {result["status"] for result in answer.json()["data"]} == {201}
        assert await counted(tenant) == (round * ITEMS,) * 4
        committed.append(answer.headers.get("Idempotent-Replayed") == "true")
    assert committed == [step == "late commit" for step in steps]


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
