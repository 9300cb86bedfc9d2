"""Devices for tests, made by the inner verb of pairing."""

from dataclasses import dataclass
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.domain import devices
from gatepass.domain.devices import Device
from gatepass.domain.keys import Mode
from tests.factory import BY, Tenant, now


@dataclass
class Paired:
    """A paired device, its API key, and the key with which it signs."""

    device: Device
    key: str
    signing_key: SigningKey


async def pair(
    tenant: Tenant, *, gate: str = "North", event_id: UUID | None = None, signing_key: SigningKey | None = None
) -> Paired:
    signing_key = signing_key or SigningKey.generate()
    async with tenant.db.transaction() as tx:
        device, key = await devices.pair_now(
            tx,
            tenant.id,
            Mode.LIVE,
            "North 2",
            bytes(signing_key.verify_key),
            event_id or tenant.event_id,
            gate,
            cell="a",
            by=BY,
            at=now(),
        )
    return Paired(device, key, signing_key)


async def revoke(tenant: Tenant, device: Device) -> None:
    async with tenant.db.transaction() as tx:
        await devices.revoke(tx, tenant.id, device.mode, device.id, by=BY, at=now())


async def retire(tenant: Tenant, device: Device) -> None:
    async with tenant.db.transaction() as tx:
        await devices.retire(tx, tenant.id, device.mode, device.id, by=BY, at=now())


async def move(tenant: Tenant, device: Device, *, event_id: UUID | None = None, gate: str | None = None) -> None:
    async with tenant.db.transaction() as tx:
        await devices.change(tx, tenant.id, device.mode, device.id, event_id=event_id, gate=gate, by=BY, at=now())
