"""Alerts about calls, connections, rate limits, the request log, the live page and manifests fire when they should."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from gatepass.base.ids import new_id
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from tests import factory
from tests.attacks.studio_client import session_token
from tests.domain.manifest.devices import paired
from tests.observe.prometheus import Prometheus, Target, prometheus
from tests.observe.stack import Stack, running_stack
from tests.processes import GatepassProcess
from tests.valkey import Valkey

CONNECTIONS = 30
ROWS = 20
# 100,000 rows would wait for a database that is away, and the live page is counted once a minute.
FEW_ROWS = f"gatepass.api.request_log_writer:MOST_WAITING={ROWS}"
OFTEN_COUNTED = "gatepass.studio.services.live_watcher:COUNT_EVERY=2"
OFTEN_COMPARED = "gatepass.api.manifests.source:WHOLE_EVERY=1"


@dataclass
class Watched:
    stack: Stack
    valkey: Valkey
    api: GatepassProcess
    studio: GatepassProcess
    full: GatepassProcess
    prometheus: Prometheus

    async def firing(self, name: str) -> None:
        await asyncio.to_thread(self.prometheus.wait_until_firing, name)


@pytest.fixture(scope="module")
async def watched() -> AsyncGenerator[Watched]:
    valkey = Valkey()
    try:
        async with running_stack() as stack:
            api, studio, full = await asyncio.gather(
                asyncio.to_thread(
                    stack.serve, "api", FEW_ROWS, OFTEN_COMPARED,
                    GATEPASS_VALKEY_URL=valkey.url, GATEPASS_MAX_CONNECTIONS=str(CONNECTIONS),
                ),
                asyncio.to_thread(stack.serve, "studio", OFTEN_COUNTED),
                asyncio.to_thread(serve_on_a_full_disk, stack),
            )  # fmt: skip
            targets = [
                Target("gatepass-api", api.metrics_port),
                Target("gatepass-studio", studio.metrics_port),
                Target("gatepass-api", full.metrics_port),
            ]
            with prometheus(targets) as watching:
                yield Watched(stack, valkey, api, studio, full, watching)
    finally:
        valkey.kill()


def serve_on_a_full_disk(stack: Stack) -> GatepassProcess:
    with Path("/dev/full").open("wb") as log:
        return stack.serve("api", stderr=log, GATEPASS_LOG_LEVEL="info")


async def test_the_log_cannot_be_written(watched: Watched) -> None:
    assert "GatepassLogLinesLost" not in watched.prometheus.firing()
    async with watched.full.client((await watched.stack.tenant.key()).text) as client:
        assert (await client.post("/scan", content=b"{}")).status_code == 400
    await watched.firing("GatepassLogLinesLost")


async def test_valkey_dies(watched: Watched) -> None:
    assert "GatepassLimitsNotShared" not in watched.prometheus.firing()
    watched.valkey.kill()
    await watched.firing("GatepassLimitsNotShared")


async def test_keys_are_guessed(watched: Watched) -> None:
    assert "GatepassFailedAuthentications" not in watched.prometheus.firing()

    async def guess(client: httpx2.AsyncClient) -> None:
        while True:
            assert (await client.get("/events")).status_code in {401, 429}
            await asyncio.sleep(0.05)

    async with watched.api.client("gp_live_a_guessed") as client:
        guessing = asyncio.create_task(guess(client))
        await watched.firing("GatepassFailedAuthentications")
        guessing.cancel()
        await asyncio.wait([guessing])


async def test_too_many_connections_are_opened(watched: Watched) -> None:
    assert "GatepassConnectionsRefused" not in watched.prometheus.firing()
    opened = [socket.create_connection(("127.0.0.1", watched.api.port)) for _ in range(CONNECTIONS + 10)]
    await watched.firing("GatepassConnectionsRefused")
    for connection in opened:
        connection.close()


async def test_a_live_page_is_wrong(watched: Watched) -> None:
    """A scan from before the lookback, which no read finds: a clock was wrong by half an hour."""
    tenant = watched.stack.tenant
    assert "GatepassLiveDisagreement" not in watched.prometheus.firing()
    cookie = await session_token(tenant)
    url = f"{watched.studio.url}{root_of(tenant.id, 'live')}/events/{tenant.event_id}/live/stream"
    async with (
        httpx2.AsyncClient(headers={"Cookie": f"{cookies.SESSION}={cookie}"}, timeout=30) as client,
        client.stream("GET", url) as page,
    ):
        assert page.status_code == 200
        lines = page.aiter_lines()
        while not (await anext(lines)).startswith("data:"):
            pass  # the first figures are a full count
        async with tenant.db.transaction() as tx:
            await tx.run(
                "INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, verdict)"
                " VALUES ($1, $2, $3, 'live', $3, $4, 'SVC 1', 'expired')",
                tenant.id,
                factory.now() - timedelta(minutes=30),
                new_id(),
                tenant.event_id,
            )
        await watched.firing("GatepassLiveDisagreement")


async def test_the_list_of_a_device_is_wrong(watched: Watched) -> None:
    """A card is suspended by hand, and the audit log does not tell."""
    tenant = watched.stack.tenant
    assert "GatepassManifestDisagreement" not in watched.prometheus.firing()
    card = await tenant.card()
    async with watched.api.client() as client:
        device = await paired(client, tenant)
        cursor = (await device.fetch()).header.cursor
        authorization = {"Authorization": f"Bearer {device.key}"}
        stream = client.stream("GET", f"{device.path}/stream", params={"after": cursor}, headers=authorization)
        async with stream as changes:
            assert changes.status_code == 200
            watched.stack.run("UPDATE card SET status = 'suspended' WHERE id = %s", card.id)
            await watched.firing("GatepassManifestDisagreement")


async def test_the_code_meets_a_table_that_it_does_not_know(watched: Watched) -> None:
    assert "GatepassFault" not in watched.prometheus.firing()
    async with watched.api.client((await watched.stack.tenant.key()).text) as client:
        assert (await client.get("/events")).status_code == 200
        watched.stack.run("ALTER TABLE event RENAME COLUMN venue TO place")
        assert (await client.get("/events")).status_code == 500
        watched.stack.run("ALTER TABLE event RENAME COLUMN place TO venue")
    await watched.firing("GatepassFault")


async def test_verifications_go_on_while_postgres_is_away(watched: Watched) -> None:
    """The API key is cached, so that each call has a row; there is room for few."""
    assert "GatepassRequestLogRowsLost" not in watched.prometheus.firing()
    async with watched.api.client((await watched.stack.tenant.key()).text) as client:
        token = {"token": watched.stack.tenant.token(await watched.stack.tenant.card())}
        assert (await client.get("/card/verify", params=token)).status_code == 200
        await asyncio.to_thread(watched.stack.cluster.kill)
        try:
            for _ in range(ROWS * 2):
                assert (await client.get("/card/verify", params=token)).status_code == 503
            await watched.firing("GatepassRequestLogRowsLost")
        finally:
            await asyncio.to_thread(watched.stack.cluster.start)
