"""Over a failover and a restore: a cursor of another server or timeline is foreign, and nothing is missed."""

import contextlib
import shutil
import subprocess
from collections.abc import AsyncGenerator
from datetime import timedelta

import httpx2
import pytest

from gatepass.api.app import ApiState
from gatepass.api.manifests import follower as followers
from gatepass.base.database import Database
from gatepass.domain import maintenance
from gatepass.domain.manifest import Cursor
from tests import factory
from tests.conftest import opened
from tests.domain.manifest import verbs
from tests.domain.manifest.devices import PairedDevice, paired
from tests.domain.manifest.reader import expected_records
from tests.factory import Tenant
from tests.postgres import Cluster, start_cluster, start_standby

NAME = "gatepass_failover"


@pytest.fixture
async def primary() -> AsyncGenerator[Cluster]:
    cluster = start_cluster()
    cluster.create_migrated(NAME)
    yield cluster
    with contextlib.suppress(Exception):
        cluster.stop()


@contextlib.asynccontextmanager
async def service(cluster: Cluster) -> AsyncGenerator[tuple[httpx2.AsyncClient, ApiState, Database]]:
    """An API process on this server."""
    url = cluster.url(NAME)
    settings = factory.settings(url)
    db = factory.database(url, connections=4)
    async with opened(settings) as (client, state):
        yield client, state, db
    await db.close()


def moved(device: PairedDevice, client: httpx2.AsyncClient, db: Database) -> PairedDevice:
    """The same device and organization, on another server."""
    device.client, device.tenant.db = client, db
    return device


async def expected(tenant: Tenant) -> bytes:
    async with tenant.db.autocommit() as tx:
        return await expected_records(tx, tenant.id, tenant.event_id)


async def begun(client: httpx2.AsyncClient, db: Database) -> PairedDevice:
    await maintenance.run_due(db, at=factory.now())
    tenant = await factory.tenant(db)
    for _ in range(5):
        await tenant.card()
    device = await paired(client, tenant)
    await device.fetch()
    await verbs.scan_one(tenant)
    await device.follow()
    return device


async def test_a_failover_makes_a_cursor_foreign(primary: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The standby was behind: what the device has seen last never happened, and must be taken back."""
    monkeypatch.setattr(followers, "FRESH", 0.0)
    async with service(primary) as (client, _, db):
        device = await begun(client, db)
        standby = start_standby(primary, "standby")
        shared = await expected(device.tenant)
        standby.run("pg_ctl", "-D", str(standby.folder / "data"), "-m", "fast", "-w", "stop")
        for _ in range(3):
            await verbs.scan_one(device.tenant)
        assert (await device.follow()).records == await expected(device.tenant) != shared
    primary.kill()
    standby.start()
    standby.run("pg_ctl", "-D", str(standby.folder / "data"), "-w", "promote")
    try:
        async with service(standby) as (client, _, db):
            moved(device, client, db)
            assert device.manifest is not None
            before = Cursor.parse(device.manifest.header.cursor)
            assert (await device.follow()).header.kind == "manifest"
            assert device.manifest.records == await expected(device.tenant) == shared
            after = Cursor.parse(device.manifest.header.cursor)
            assert after.server.system == before.server.system
            assert after.server.timeline > before.server.timeline
            await verbs.scan_one(device.tenant)
            assert (await device.follow()).header.kind == "changes"
            assert device.manifest.records == await expected(device.tenant)
            # Nothing was lost between these two: the same records, so that nothing is sent.
            foreign = Cursor(before.server, after.base, after.content, after.since, after.snapshot)
            answer = await device.get(after=foreign.text(), etag=device.manifest.header.state)
            assert answer.status_code == 304
    finally:
        standby.stop()


async def test_a_restore_makes_a_cursor_foreign(primary: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the folder from before, started again: the same server and timeline, but earlier transaction ids."""
    monkeypatch.setattr(followers, "FRESH", 0.0)
    data = primary.folder / "data"
    async with service(primary) as (client, _, db):
        device = await begun(client, db)
        shared = await expected(device.tenant)
    primary.run("pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")
    subprocess.run(["cp", "-a", str(data), str(primary.folder / "copy")], check=True)  # noqa: ASYNC221
    primary.start()
    async with service(primary) as (client, _, db):
        moved(device, client, db)
        for _ in range(6):
            await verbs.scan_one(device.tenant)
        assert (await device.follow()).records == await expected(device.tenant)
    primary.kill()
    shutil.rmtree(data)
    (primary.folder / "copy").rename(data)
    primary.start()
    async with service(primary) as (client, _, db):
        moved(device, client, db)
        assert (await device.follow()).header.kind == "manifest"
        assert device.manifest is not None
        assert device.manifest.records == await expected(device.tenant) == shared


async def test_a_process_that_lives_through_a_restore_tells_its_devices(
    primary: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The follower in its memory is of a server that is gone."""
    monkeypatch.setattr(followers, "FRESH", 0.0)
    async with service(primary) as (client, state, db):
        device = await begun(client, db)
        (follower,) = state.manifests._followers.values()
        epoch = follower.epoch
        reading = await follower.refresh()
        other = type(reading.manifest.server)(reading.manifest.server.system, reading.manifest.server.timeline + 1)
        object.__setattr__(reading.manifest, "server", other)
        await verbs.scan_one(device.tenant)
        assert (await device.follow()).records == await expected(device.tenant)
        assert follower.epoch == epoch + 1
        assert timedelta(0) < device.manifest.header.expires_at - factory.now()  # pyright: ignore[reportOptionalMemberAccess]
