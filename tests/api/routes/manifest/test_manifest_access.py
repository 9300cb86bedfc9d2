"""Only a device gets a manifest, and only that of its own event."""

from gatepass.domain import devices, keys
from gatepass.domain.keys import Mode, Scope
from tests.domain.manifest.devices import PairedDevice
from tests.factory import BY, Tenant, now


async def test_only_the_key_of_a_device_opens_it(device: PairedDevice, tenant: Tenant) -> None:
    device.key = (await tenant.key()).text
    answer = await device.get()
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
    answer = await device.get(device.path + "/stream")
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
    device.key = (await tenant.key(Scope.EVENTS_READ, Scope.TICKETS_ACTIVATE)).text
    assert (await device.get()).status_code == 403


async def test_another_event_is_not_there(device: PairedDevice, tenant: Tenant) -> None:
    for event_id in (await tenant.event(), "nonsense", "0" * 32):
        for path in (f"/events/{event_id}/manifest", f"/events/{event_id}/manifest/stream"):
            answer = await device.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "event_not_found")


async def test_a_device_that_was_moved_retired_or_revoked_gets_nothing_more(
    device: PairedDevice, tenant: Tenant
) -> None:
    await device.fetch()
    elsewhere = await tenant.event()
    async with tenant.db.transaction() as tx:
        await devices.change(tx, tenant.id, Mode.LIVE, device.id, by=BY, at=now(), event_id=elsewhere)
    assert (await device.get()).json()["code"] == "event_not_found"
    async with tenant.db.transaction() as tx:
        await devices.retire(tx, tenant.id, Mode.LIVE, device.id, by=BY, at=now())
    assert (await device.get()).json()["code"] == "insufficient_scope"
    async with tenant.db.transaction() as tx:
        await keys.revoke_device_keys(tx, tenant.id, device.id, by=BY, at=now())
    assert (await device.get()).status_code == 401
