"""The SDK's client fetches, updates and follows a manifest of the real service."""

import asyncio

import pytest

from gatepass_sdk import AsyncGatepass, Gatepass, PermissionDenied
from gatepass_sdk._gate.manifest import Manifest
from tests.domain.manifest import verbs
from tests.domain.manifest.devices import PairedDevice, paired
from tests.domain.manifest.reader import expected_records
from tests.factory import Tenant
from tests.processes import GatepassProcess

WITHIN = 60.0


async def device_of(server: GatepassProcess, tenant: Tenant) -> PairedDevice:
    async with server.client() as client:
        return await paired(client, tenant)


async def expected(tenant: Tenant) -> bytes:
    async with tenant.db.autocommit() as tx:
        return await expected_records(tx, tenant.id, tenant.event_id)


async def test_fetch_and_update(server: GatepassProcess, tenant: Tenant) -> None:
    await tenant.card()
    device = await device_of(server, tenant)
    async with AsyncGatepass(device.key, base_url=server.base_url) as client:
        keys = (await client.cards.keys()).keys
        manifest = await client.manifests.fetch(str(tenant.event_id), keys)
        assert manifest.records == await expected(tenant)
        await verbs.scan_one(tenant)
        async with asyncio.timeout(WITHIN):
            while manifest.records != await expected(tenant):
                manifest = await client.manifests.update(manifest, keys)
        assert manifest.header.kind == "changes"
        assert await client.manifests.update(manifest, keys) is manifest
        await verbs.add_category_and_issue(tenant)
        async with asyncio.timeout(WITHIN):
            while manifest.header.kind != "manifest":
                manifest = await client.manifests.update(manifest, keys)
        assert manifest.records == await expected(tenant)


async def test_follow(server: GatepassProcess, tenant: Tenant) -> None:
    await tenant.card()
    device = await device_of(server, tenant)
    async with AsyncGatepass(device.key, base_url=server.base_url) as client:
        manifest = await client.manifests.fetch(str(tenant.event_id), device.public_keys)
        await verbs.scan_one(tenant)
        wanted = await expected(tenant)
        async with asyncio.timeout(WITHIN):
            async for one in client.manifests.follow(manifest, device.public_keys):
                manifest = one
                if manifest.records == wanted:
                    break
        await verbs.add_category_and_issue(tenant)
        async with asyncio.timeout(WITHIN):  # it ends: only a whole manifest will do
            async for one in client.manifests.follow(manifest, device.public_keys):
                manifest = one
        manifest = await client.manifests.update(manifest, device.public_keys)
        assert manifest.records == await expected(tenant)


async def test_the_synchronous_client_does_the_same(server: GatepassProcess, tenant: Tenant) -> None:
    await tenant.card()
    device = await device_of(server, tenant)
    await verbs.scan_one(tenant)

    def run() -> Manifest:
        with Gatepass(device.key, base_url=server.base_url) as client:
            manifest = client.manifests.fetch(str(tenant.event_id), device.public_keys)
            return client.manifests.update(manifest, device.public_keys)

    assert (await asyncio.to_thread(run)).records == await expected(tenant)


async def test_a_refusal_is_the_usual_error(server: GatepassProcess, tenant: Tenant) -> None:
    device = await device_of(server, tenant)
    async with AsyncGatepass(device.key, base_url=server.base_url) as client:
        manifest = await client.manifests.fetch(str(tenant.event_id), device.public_keys)
    async with AsyncGatepass((await tenant.key()).text, base_url=server.base_url) as client:
        for call in (client.manifests.update(manifest, device.public_keys), _first(client, manifest, device)):
            with pytest.raises(PermissionDenied):
                await call


async def _first(client: AsyncGatepass, manifest: Manifest, device: PairedDevice) -> None:
    async for _ in client.manifests.follow(manifest, device.public_keys):
        return
