"""A device gets a key for one event and one gate, which ends with the event."""

from datetime import timedelta
from uuid import UUID

import pytest
from nacl.signing import SigningKey

from gatepass.base.database import Database
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import devices, events, keys
from gatepass.domain.devices import Device, DeviceNotFound, DeviceStatus
from gatepass.domain.events import EventNotFound, EventStatus
from gatepass.domain.keys import Caller, DeadKey, KeyNotFound, Mode, Scope
from tests import factory
from tests.factory import BY, Tenant, now


async def pair(tenant: Tenant, *, public_key: bytes | None = None, gate: str = "North") -> tuple[Device, str]:
    public_key = public_key or bytes(SigningKey.generate().verify_key)
    async with tenant.db.transaction() as tx:
        return await devices.pair_now(
            tx, tenant.id, Mode.LIVE, "North 2", public_key, tenant.event_id, gate, cell="a", by=BY, at=now()
        )


async def caller_of(db: Database, key: str) -> Caller:
    async with db.autocommit() as tx:
        return await keys.authenticate(tx, key, None, at=now())


async def end_of(tenant: Tenant, device_id: UUID) -> timedelta:
    """How long after the present end of the event the key of this device ends."""
    async with tenant.db.autocommit() as tx:
        return await tx.value(
            "SELECT k.expires_at - e.ends_at FROM api_key k JOIN event e ON e.organization_id = k.organization_id"
            " AND e.id = k.event_id WHERE k.organization_id = $1 AND k.device_id = $2 AND k.revoked_at IS NULL",
            tenant.id,
            device_id,
        )


async def test_the_key_of_a_device_names_its_device_event_and_gate(tenant: Tenant) -> None:
    device, key = await pair(tenant)
    caller = await caller_of(tenant.db, key)
    assert device.status is DeviceStatus.PAIRED
    assert caller.device == device.assignment
    assert (device.event_id, device.gate) == (tenant.event_id, "North")
    assert caller.scopes == {Scope.TICKETS_ACTIVATE, Scope.CARDS_VERIFY, Scope.EVENTS_READ}
    assert await end_of(tenant, device.id) == timedelta(hours=72)


async def test_a_key_that_people_made_has_no_device(tenant: Tenant) -> None:
    assert (await caller_of(tenant.db, (await tenant.key()).text)).device is None


async def test_the_key_follows_the_end_of_the_event(tenant: Tenant) -> None:
    device, _ = await pair(tenant)
    async with tenant.db.transaction() as tx:
        entry = await events.find(tx, tenant.id, tenant.event_id)
        later = events.Details("Summer Opening", entry.event.starts_at, entry.event.ends_at + timedelta(hours=5), "UTC")
        await events.edit(tx, tenant.id, tenant.event_id, later, by=BY, at=now())
    assert await end_of(tenant, device.id) == timedelta(hours=72)


async def test_the_key_of_an_event_that_ended_early_ends_72_hours_after_it(tenant: Tenant) -> None:
    device, _ = await pair(tenant)
    await tenant.move_event(tenant.event_id, EventStatus.ENDED)
    async with tenant.db.autocommit() as tx:
        left = await tx.value(
            "SELECT expires_at - now() FROM api_key WHERE organization_id = $1 AND device_id = $2",
            tenant.id,
            device.id,
        )
    assert timedelta(hours=71, minutes=55) < left < timedelta(hours=72)


async def test_the_same_public_key_continues_as_the_same_device(tenant: Tenant) -> None:
    public_key = bytes(SigningKey.generate().verify_key)
    first, old = await pair(tenant, public_key=public_key)
    second, new = await pair(tenant, public_key=public_key, gate="South")
    assert first.id == second.id
    with pytest.raises(DeadKey):
        await caller_of(tenant.db, old)
    assert (await caller_of(tenant.db, new)).device == second.assignment


async def test_another_organization_with_the_same_public_key_has_a_device_of_its_own(tenant: Tenant) -> None:
    public_key = bytes(SigningKey.generate().verify_key)
    other = await factory.tenant(tenant.db)
    mine, key = await pair(tenant, public_key=public_key)
    theirs, _ = await pair(other, public_key=public_key)
    assert mine.id != theirs.id
    assert (await caller_of(tenant.db, key)).organization_id == tenant.id


async def test_a_revoked_device_has_no_key_and_is_distrusted_after_it_was_paired_again(tenant: Tenant) -> None:
    public_key = bytes(SigningKey.generate().verify_key)
    device, key = await pair(tenant, public_key=public_key)
    async with tenant.db.transaction() as tx:
        ended = await devices.revoke(tx, tenant.id, Mode.LIVE, device.id, by=BY, at=now())
        with pytest.raises(NotAllowedFromHere):
            await devices.issue_key(tx, ended, cell="a", by=BY, at=now())
    with pytest.raises(DeadKey):
        await caller_of(tenant.db, key)
    again, _ = await pair(tenant, public_key=public_key)
    async with tenant.db.autocommit() as tx:
        distrusted = await tx.value(
            "SELECT distrusted_until FROM device WHERE organization_id = $1 AND id = $2", tenant.id, device.id
        )
    assert (again.id, again.status) == (device.id, DeviceStatus.PAIRED)
    assert distrusted == again.paired_at


async def test_a_retired_device_keeps_a_key_without_scopes(tenant: Tenant) -> None:
    device, key = await pair(tenant)
    async with tenant.db.transaction() as tx:
        await devices.retire(tx, tenant.id, Mode.LIVE, device.id, by=BY, at=now())
    caller = await caller_of(tenant.db, key)
    assert caller.scopes == frozenset()
    assert caller.device == device.assignment


async def test_a_moved_device_keeps_its_key_and_its_assignments(tenant: Tenant) -> None:
    device, key = await pair(tenant)
    other = await tenant.event()
    async with tenant.db.transaction() as tx:
        moved = await devices.change(
            tx, tenant.id, Mode.LIVE, device.id, name="South 1", event_id=other, gate="South", by=BY, at=now()
        )
    assert (moved.name, moved.event_id, moved.gate) == ("South 1", other, "South")
    assert (await caller_of(tenant.db, key)).device == moved.assignment
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT event_id, gate, until IS NULL AS present FROM device_assignment"
            " WHERE organization_id = $1 AND device_id = $2 ORDER BY since",
            tenant.id,
            device.id,
        )
    assert [tuple(row.values()) for row in rows] == [(tenant.event_id, "North", False), (other, "South", True)]


async def test_the_list_of_api_keys_has_no_key_of_a_device(tenant: Tenant) -> None:
    device, key = await pair(tenant)
    key_id = (await caller_of(tenant.db, key)).key_id
    async with tenant.db.transaction() as tx:
        found, _ = await keys.keys_of(tx, tenant.id, Mode.LIVE, at=now(), limit=10)
        assert found == []
        with pytest.raises(KeyNotFound):
            await keys.find_key(tx, tenant.id, Mode.LIVE, key_id)
        with pytest.raises(KeyNotFound):
            await keys.revoke(tx, tenant.id, key_id, by=BY, at=now())
        assert [one.id for one in (await devices.devices_of(tx, tenant.id, Mode.LIVE, limit=10))[0]] == [device.id]


@pytest.mark.parametrize("status", [EventStatus.CANCELLED, EventStatus.ENDED])
async def test_an_event_that_is_over_takes_no_device(tenant: Tenant, status: EventStatus) -> None:
    tenant.event_id = await tenant.event(status=status)
    with pytest.raises(NotAllowedFromHere):
        await pair(tenant)


async def test_another_organizations_event_takes_no_device(tenant: Tenant) -> None:
    tenant.event_id = (await factory.tenant(tenant.db)).event_id
    with pytest.raises(EventNotFound):
        await pair(tenant)


@pytest.mark.parametrize(
    "public_key",
    [bytes(32), bytes([1]) + bytes(31), bytes([0xEC]) + b"\xff" * 30 + b"\x7f", b"\xff" * 32, bytes(31), bytes(33)],
)
async def test_a_public_key_of_small_order_or_none_is_refused(tenant: Tenant, public_key: bytes) -> None:
    with pytest.raises(InvalidRequest):
        await pair(tenant, public_key=public_key)


@pytest.mark.parametrize("gate", ["", " ", "x" * 65, "North\nSouth", "a\x00b", "evil\u202egate"])
async def test_a_gate_is_one_printable_line(tenant: Tenant, gate: str) -> None:
    with pytest.raises(InvalidRequest):
        await pair(tenant, gate=gate)


async def test_an_unknown_device_is_not_found(tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        with pytest.raises(DeviceNotFound):
            await devices.revoke(tx, tenant.id, Mode.LIVE, new_id(), by=BY, at=now())
