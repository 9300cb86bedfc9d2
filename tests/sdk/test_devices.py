"""Devices in the SDK, over the fake: listed, moved, ended, and what their keys open."""

from datetime import UTC, datetime, timedelta

import pytest

from gatepass_sdk import AuthenticationError, Conflict, NotFound, PermissionDenied
from gatepass_sdk.testing import FakeGatepass

NOW = datetime(2026, 6, 15, 19, 0, tzinfo=UTC)


@pytest.fixture
def fake() -> FakeGatepass:
    return FakeGatepass(clock=lambda: NOW)


def test_a_device_scans_for_its_own_event_and_gate(fake: FakeGatepass) -> None:
    device, card, other = fake.pair(gate="North"), fake.issue(), fake.add_event()
    client = fake.client(api_key=device.api_key)
    assert client.scans.create(fake.event_id, token=card.token, gate="Backstage").tier == "standard"
    assert fake.scans[-1].gate == "North"
    assert client.events.retrieve(fake.event_id).id == fake.event_id
    with pytest.raises(NotFound):
        client.events.retrieve(other["id"])
    with pytest.raises(NotFound):
        client.scans.create(other["id"], token=card.token)


def test_a_device_opens_nothing_else(fake: FakeGatepass) -> None:
    client = fake.client(api_key=fake.pair().api_key)
    with pytest.raises(PermissionDenied):
        list(client.events.list())
    with pytest.raises(PermissionDenied):
        list(client.devices.list())
    with pytest.raises(PermissionDenied, match="Only the key of a device"):
        fake.client(live=True).devices.heartbeat(at=NOW, queued=0)


def test_a_heartbeat_measures_the_clock(fake: FakeGatepass) -> None:
    device = fake.pair()
    beat = fake.client(api_key=device.api_key).devices.heartbeat(at=NOW - timedelta(seconds=3), queued=2, app="mine/1")
    assert (beat.now, beat.device.clock_offset_ms, beat.device.queued) == (NOW, -3_000, 2)
    assert beat.settings.offline == "manifest"
    assert fake.client(live=True).devices.retrieve(device.id).app == "mine/1"


def test_devices_are_listed_moved_and_ended(fake: FakeGatepass) -> None:
    admin, device = fake.client(live=True), fake.pair()
    other = fake.add_event()["id"]
    assert [one.id for one in admin.devices.list(event_id=fake.event_id)] == [device.id]
    assert admin.devices.update(device.id, event_id=other, gate="South").gate == "South"
    assert list(admin.devices.list(event_id=fake.event_id)) == []
    assert admin.devices.retire(device.id).status == "retired"
    with pytest.raises(Conflict):
        admin.devices.update(device.id, gate="East")
    own = fake.client(api_key=device.api_key)
    with pytest.raises(PermissionDenied):
        own.scans.create(other, card_number="SVC 0000 0000 0000")
    assert own.devices.heartbeat(at=NOW, queued=0).device.status == "retired"
    assert admin.devices.revoke(device.id).status == "revoked"
    with pytest.raises(AuthenticationError):
        own.devices.heartbeat(at=NOW, queued=0)
    with pytest.raises(NotFound):
        admin.devices.retrieve("00000000-0000-0000-0000-000000000000")
