"""compose.yaml and the Dockerfile as processes: built by their steps, started in their order, stopped as they say.

No container is started. What that leaves unseen is in deploy/README.md.
"""

import asyncio
import json
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gatepass.base.vault import new_key
from tests.deploy import composition, recipe
from tests.deploy.composition import DEPLOY
from tests.deploy.town import Town
from tests.deploy.visiting import a_scan_is_answered_and_told_of, caller, scan
from tests.faults.gates import wait_for
from tests.receivers import Receiver, hang, receiving

pytestmark = pytest.mark.slow

HOLD = "LOCK TABLE idempotency_generation IN ACCESS EXCLUSIVE MODE"
HELD = "SELECT count(*) FROM pg_locks WHERE relation = 'idempotency_generation'::regclass AND NOT granted"
# What an operator fills in, and leave to call a receiver on this machine.
FILLED_IN = {
    "POSTGRES_PASSWORD": "correcthorsebatterystaple",
    "GATEPASS_ENCRYPTION_KEYS": new_key(),
    "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
}


@pytest.fixture
def town(tmp_path: Path) -> Generator[Town]:
    example = composition.variables_of(DEPLOY / ".env.example")
    assert {name for name, value in example.items() if not value} <= {*FILLED_IN, "GATEPASS_TRUSTED_PROXIES"}
    built = Town(composition.read({**example, **FILLED_IN}), recipe.build(tmp_path))
    yield built
    built.close()


async def test_the_files_run_serve_deliver_and_stop(town: Town) -> None:
    await asyncio.to_thread(come_up, town)
    demo = json.loads(await asyncio.to_thread(town.run, "api", "demo", "--json"))
    async with (
        caller(town.url("api"), demo) as api,
        receiving() as receiver,
    ):
        await a_scan_is_answered_and_told_of(api, demo, receiver)
        await limits_are_shared_through_valkey(town)
        await the_studio_is_behind_its_own_door(town)
        await all_end_well_in_the_midst_of_work(town, api, demo, receiver)
    await the_servers_end_well(town)


def come_up(town: Town) -> None:
    for name in town.services:
        town.start(name)
    for name in ("api", "studio", "worker", "valkey"):
        town.wait_until_healthy(name)
    assert town.is_healthy("api", town.image.health), "the image's own health check"


async def limits_are_shared_through_valkey(town: Town) -> None:
    async with httpx2.AsyncClient() as client:

        async def are_shared() -> bool:
            return "gatepass_limits_shared 1.0" in (await client.get(town.url("api", "9464") + "/metrics")).text

        await wait_for(are_shared)


async def the_studio_is_behind_its_own_door(town: Town) -> None:
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        page = await client.get(town.url("studio") + "/studio")
        assert (page.status_code, "Sign in" in page.text) == (200, True)
        assert (await client.get(town.url("api") + "/studio")).status_code == 404


async def all_end_well_in_the_midst_of_work(
    town: Town, api: httpx2.AsyncClient, demo: dict[str, Any], receiver: Receiver
) -> None:
    """A scan is held in PostgreSQL, a receiver never answers; all three are told to stop."""
    receiver.otherwise = hang
    assert (await scan(api, demo, 1)).status_code == 200
    await receiver.wait(2)
    with town.database() as holder, town.database() as watcher:
        watcher.autocommit = True
        holder.execute(HOLD)
        under_way = asyncio.create_task(scan(api, demo, 2))

        async def is_held() -> bool:
            return watcher.execute(HELD).fetchone() != (0,)

        await wait_for(is_held)
        told = {name: town.tell_to_stop(name) for name in ("api", "studio", "worker")}
        await wait_for(partial(refuses_connections, town.ports["api"]["8000"]))
        holder.rollback()
        assert (await under_way).status_code == 200
    for name, at in told.items():
        took = await asyncio.to_thread(town.ended, name, at)
        print(f"{name} ended {took:.1f} s after it was told to; it has {town.services[name].grace:.0f}")


async def refuses_connections(port: str) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def the_servers_end_well(town: Town) -> None:
    for name in ("valkey", "postgres"):
        await asyncio.to_thread(town.ended, name, town.tell_to_stop(name))
    assert town.postgres.was_shut_down(), "it would have to recover at its next start"
