"""One deadline for a call, from its arrival: also for the call that waits behind others."""

import asyncio
import time
from collections.abc import AsyncGenerator

import httpx2
import pytest

from gatepass.api.app import ApiState
from tests import factory
from tests.conftest import opened
from tests.postgres import Cluster
from tests.postgres_proxy import Proxy
from tests.size import NIGHT

DEADLINE = 1.0
# What an answer may come later.
SPARE = 0.25


@pytest.fixture
async def proxied(cluster: Cluster, database_url: str) -> AsyncGenerator[tuple[Proxy, httpx2.AsyncClient, ApiState]]:
    proxy = Proxy()
    async with proxy.running(cluster.port):
        settings = factory.settings(proxy.url(database_url), database_deadline=DEADLINE)
        async with opened(settings) as (client, state):
            yield proxy, client, state
            proxy.cut()
            proxy.thaw()


async def test_no_answer_comes_later_than_its_deadline(
    proxied: tuple[Proxy, httpx2.AsyncClient, ApiState], tenant: factory.Tenant
) -> None:
    proxy, client, state = proxied
    headers = {"Authorization": f"Bearer {(await tenant.key()).text}"}
    body = {"event_id": str(tenant.event_id), "card_number": (await tenant.card()).number}
    assert (await client.post("/scan", json=body, headers=headers)).status_code == 200
    assert (await client.get("/events", headers=headers)).status_code == 200
    proxy.freeze()

    async def timed(after: float, path: str) -> tuple[int, float]:
        await asyncio.sleep(after)
        began = time.monotonic()
        scan = client.post("/scan", json=body, headers=headers) if path == "/scan" else None
        answer = await (scan or client.get(path, headers=headers))
        return answer.status_code, time.monotonic() - began

    # They arrive all the time while the ones before them hang.
    calls = [timed(n / 20, "/scan" if n % 3 else "/events") for n in range(50)]
    answers = await asyncio.gather(*calls)
    assert {status for status, _ in answers} == {503}
    if NIGHT:
        assert max(seconds for _, seconds in answers) < DEADLINE + SPARE
    proxy.cut()
    proxy.thaw()
    assert (await client.get("/events", headers=headers)).status_code == 200
    value = state.metrics.registry.get_sample_value
    assert value("gatepass_unavailable_total", {"cause": "deadline"})
