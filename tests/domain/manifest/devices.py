"""A device for tests: paired, with its key, and with the SDK's reader of manifests."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx2
from nacl.signing import SigningKey

from gatepass.domain import cards, devices, twin
from gatepass.domain.keys import Mode
from gatepass_sdk._gate.manifest import Manifest
from tests.domain.manifest.reader import expected_records
from tests.factory import BY, Tenant, now


@dataclass
class PairedDevice:
    client: httpx2.AsyncClient
    tenant: Tenant
    id: UUID
    key: str
    public_keys: list[bytes]
    manifest: Manifest | None = None

    @property
    def path(self) -> str:
        return f"/events/{self.tenant.event_id}/manifest"

    async def get(self, path: str | None = None, *, etag: str | None = None, **query: str) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.key}"}
        if etag is not None:
            headers["If-None-Match"] = f'"{etag}"'
        return await self.client.get(path or self.path, params=query, headers=headers)

    async def fetch(self) -> Manifest:
        """The whole manifest, verified."""
        answer = await self.get()
        assert answer.status_code == 200, answer.text
        self.manifest = Manifest.read(answer.content, self.public_keys, event_id=str(self.tenant.event_id))
        return self.manifest

    async def follow(self) -> Manifest:
        """What changed, or the whole manifest; as a real device would."""
        assert self.manifest is not None
        answer = await self.get(after=self.manifest.header.cursor, etag=self.manifest.header.state)
        assert answer.status_code in (200, 304), answer.text
        if answer.status_code == 304:
            return self.manifest
        kind = answer.content[8:60]
        if b'"changes"' in kind:
            self.manifest = self.manifest.apply(answer.content, self.public_keys)
        else:
            self.manifest = Manifest.read(answer.content, self.public_keys)
        return self.manifest

    async def up_to_date(self) -> Manifest:
        """What the tables say: a manifest may be a second older, and lack what an earlier test did."""
        if self.manifest is None:
            await self.fetch()
        async with asyncio.timeout(60), self.tenant.db.autocommit() as tx:
            while True:
                found = await self.follow()
                if found.records == await expected_records(tx, self.tenant.id, self.tenant.event_id):
                    return found
                await asyncio.sleep(0.1)


async def registered(tenant: Tenant, *, gate: str = "North") -> tuple[UUID, str]:
    """A new device for the tenant's event: its id and its key."""
    mode = Mode.SANDBOX if twin.is_twin(tenant.id) else Mode.LIVE
    public_key = bytes(SigningKey.generate().verify_key)
    async with tenant.db.transaction() as tx:
        device, key = await devices.pair_now(
            tx, twin.owner_of(tenant.id), mode, "North 2", public_key, tenant.event_id, gate,
            cell=tenant.cell, by=BY, at=now(),
        )  # fmt: skip
    return device.id, key


async def paired(client: httpx2.AsyncClient, tenant: Tenant, *, gate: str = "North", **more: Any) -> PairedDevice:
    device_id, key = await registered(tenant, gate=gate)
    async with tenant.db.autocommit() as tx:
        keys = [key.public_key for key in await cards.verifying_keys(tx, tenant.id)]
    return PairedDevice(client, tenant, device_id, key, keys, **more)
