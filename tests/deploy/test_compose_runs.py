"""compose.yaml and the Dockerfile as processes: build steps, order of services, health checks, stop signals.

No container is started. deploy/README.md lists what this cannot check.
"""

import asyncio
import json
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gatepass.base.encryption import new_key
from tests.deploy import compose_file, dockerfile
from tests.deploy.compose_file import DEPLOY
from tests.deploy.compose_runner import ComposeRunner
from tests.deploy.smoke import a_scan_is_answered_and_its_webhook_received, caller, scan
from tests.faults.gates import wait_for
from tests.receivers import Receiver, hang, receiving

HOLD = "LOCK TABLE idempotency_generation IN ACCESS EXCLUSIVE MODE"
HELD = "SELECT count(*) FROM pg_locks WHERE relation = 'idempotency_generation'::regclass AND NOT granted"
# The values that an operator fills in, and permission to call a receiver on this machine.
FILLED_IN = {
    "POSTGRES_PASSWORD": "correcthorsebatterystaple",
    "GATEPASS_ENCRYPTION_KEYS": new_key(),
    "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
}


@pytest.fixture
def compose(tmp_path: Path) -> Generator[ComposeRunner]:
    example = compose_file.variables_of(DEPLOY / ".env.example")
    assert {name for name, value in example.items() if not value} <= {*FILLED_IN, "GATEPASS_TRUSTED_PROXIES"}
    runner = ComposeRunner(compose_file.read({**example, **FILLED_IN}), dockerfile.build(tmp_path))
    yield runner
    runner.close()


async def test_the_files_run_serve_deliver_and_stop(compose: ComposeRunner) -> None:
    await asyncio.to_thread(start_all, compose)
    demo = json.loads(await asyncio.to_thread(compose.run, "api", "demo", "--json"))
    async with (
        caller(compose.url("api"), demo) as api,
        receiving() as receiver,
    ):
        await a_scan_is_answered_and_its_webhook_received(api, demo, receiver)
        await limits_are_shared_through_valkey(compose)
        await the_studio_runs_in_its_own_process(compose)
        await card_pages_have_a_process_of_their_own(compose)
        await all_stop_cleanly_under_load(compose, api, demo, receiver)
    await the_servers_stop_cleanly(compose)


def start_all(compose: ComposeRunner) -> None:
    for name in compose.services:
        compose.start(name)
    for name in ("api", "studio", "card-page", "worker", "valkey"):
        compose.wait_until_healthy(name)
    assert compose.is_healthy("api", compose.image.health), "the image's own health check"


async def limits_are_shared_through_valkey(compose: ComposeRunner) -> None:
    async with httpx2.AsyncClient() as client:

        async def are_shared() -> bool:
            return "gatepass_limits_shared 1.0" in (await client.get(compose.url("api", "9464") + "/metrics")).text

        await wait_for(are_shared)


async def the_studio_runs_in_its_own_process(compose: ComposeRunner) -> None:
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        page = await client.get(compose.url("studio") + "/studio")
        assert (page.status_code, "Sign in" in page.text) == (200, True)
        assert (await client.get(compose.url("api") + "/studio")).status_code == 404


async def card_pages_have_a_process_of_their_own(compose: ComposeRunner) -> None:
    async with httpx2.AsyncClient() as client:
        page = await client.get(compose.url("card-page") + "/c/unknown")
        assert (page.status_code, "There is no card" in page.text) == (404, True)
        assert (await client.get(compose.url("card-page") + "/studio")).status_code == 404


async def all_stop_cleanly_under_load(
    compose: ComposeRunner, api: httpx2.AsyncClient, demo: dict[str, Any], receiver: Receiver
) -> None:
    """A lock holds a scan in PostgreSQL and a receiver never answers, while all are signalled to stop."""
    receiver.otherwise = hang
    assert (await scan(api, demo, 1)).status_code == 200
    await receiver.wait(2)
    with compose.database() as holder, compose.database() as watcher:
        watcher.autocommit = True
        holder.execute(HOLD)
        held_scan = asyncio.create_task(scan(api, demo, 2))

        async def is_held() -> bool:
            return watcher.execute(HELD).fetchone() != (0,)

        await wait_for(is_held)
        signalled = {name: compose.signal_stop(name) for name in ("api", "studio", "card-page", "worker")}
        await wait_for(partial(refuses_connections, compose.ports["api"]["8000"]))
        holder.rollback()
        assert (await held_scan).status_code == 200
    for name, at in signalled.items():
        took = await asyncio.to_thread(compose.wait_for_exit, name, at)
        print(f"{name} exited {took:.1f} s after its stop signal; it has {compose.services[name].grace:.0f}")


async def refuses_connections(port: str) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # the socket was closed with this connection in its backlog
        return False
    writer.close()
    return False


async def the_servers_stop_cleanly(compose: ComposeRunner) -> None:
    for name in ("valkey", "postgres"):
        await asyncio.to_thread(compose.wait_for_exit, name, compose.signal_stop(name))
    assert compose.postgres.was_shut_down(), "without a checkpoint it would have to recover at its next start"
