"""Whose entries are believed, for which events and at which times."""

from datetime import timedelta
from uuid import uuid4

import httpx2
import pytest

from gatepass.base.clock import rfc3339
from gatepass.domain import devices
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.domain.journal.device import GateDevice, pair, upload, upload_one
from tests.factory import BY, Tenant, now


async def test_an_event_for_which_it_never_worked(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient) -> None:
    other = await tenant.event()
    entry = gate.entry(token=tenant.token(await tenant.card()), event_id=other)
    assert await upload_one(device, entry) == ("rejected", "not_assigned", [])
    strange = gate.entry(token=tenant.token(await tenant.card()), event_id=uuid4())
    assert await upload_one(device, strange) == ("rejected", "not_assigned", [])


async def test_a_device_that_was_moved_uploads_what_it_did_before(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    before, after = await tenant.card(), await tenant.card()
    other = await tenant.event()
    async with tenant.db.transaction() as tx:
        moved_at = now() - timedelta(minutes=30)
        await devices.change(tx, tenant.id, Mode.LIVE, gate.id, by=BY, at=moved_at, event_id=other, gate="East")
    old = gate.entry(token=tenant.token(before), occurred_at=now() - timedelta(hours=1))
    late = gate.entry(token=tenant.token(after), occurred_at=now() - timedelta(minutes=10))
    assert await upload_one(device, old) == ("activated", None, [])
    assert await upload_one(device, late) == ("recorded", None, ["override"])


async def test_a_retired_device_uploads(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient) -> None:
    entry = gate.entry(token=tenant.token(await tenant.card()), occurred_at=now() - timedelta(minutes=5))
    async with tenant.db.transaction() as tx:
        await devices.retire(tx, tenant.id, Mode.LIVE, gate.id, by=BY, at=now())
    assert await upload_one(device, entry) == ("activated", None, [])
    later = gate.entry(token=tenant.token(await tenant.card()), occurred_at=now() + timedelta(minutes=5))
    assert await upload_one(device, later) == ("recorded", None, ["override"])


async def test_a_revoked_device_uploads_after_it_was_paired_again_and_activates_nothing(
    tenant: Tenant, api: Api, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    card, later = await tenant.card(), await tenant.card()
    entry = gate.entry(token=tenant.token(card), occurred_at=now() - timedelta(minutes=5))
    async with tenant.db.transaction() as tx:
        await devices.revoke(tx, tenant.id, Mode.LIVE, gate.id, by=BY, at=now())
    assert_error(await device.post("/scans/batch", json={"entries": [entry]}), 401, "device_revoked")
    again = await pair(tenant, signing_key=gate.signing_key, ago=timedelta(0))
    assert again.id == gate.id
    async with api.client(again.key) as client:
        assert await upload_one(client, entry) == ("recorded", None, ["override"])
        fresh = again.entry(token=tenant.token(later), sequence=50, occurred_at=now())
        assert await upload_one(client, fresh) == ("activated", None, [])


async def test_numbers_that_are_typed_faster_than_people_type_activate_nothing(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    cards, at = [await tenant.card() for _ in range(4)], now() - timedelta(minutes=10)
    times = [at, at + timedelta(seconds=1), at + timedelta(seconds=4), at + timedelta(seconds=5)]
    entries = [gate.entry(number=card.number, occurred_at=one) for card, one in zip(cards, times, strict=True)]
    results = await upload(device, *entries[:3])
    assert [one["outcome"] for one in results] == ["activated", "recorded", "activated"]
    assert await upload_one(device, entries[3]) == ("recorded", None, ["override"])
    assert await upload_one(device, gate.entry(token=tenant.token(cards[3]), occurred_at=times[3])) == (
        "activated", None, ["duplicate"],
    )  # fmt: skip


async def test_times_are_corrected_by_the_clock_of_the_device(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    """A clock that is 10 minutes ahead, and a token that ended 5 minutes ago by ours."""
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE device SET clock_offset_ms = 600000 WHERE organization_id = $1", tenant.id)
    entry = gate.entry(
        token=tenant.token(card, valid_for=-timedelta(minutes=5)), occurred_at=now() + timedelta(minutes=4)
    )
    assert await upload_one(device, entry) == ("activated", None, [])
    async with tenant.db.autocommit() as tx:
        (row,) = await tx.rows("SELECT * FROM journal_entry WHERE organization_id = $1", tenant.id)
    assert row["occurred_at"] - row["corrected_at"] == timedelta(minutes=10)
    assert rfc3339(row["occurred_at"]) == entry["occurred_at"]


@pytest.mark.parametrize("text", ["1970-01-01T00:00:00Z", "9998-12-31T23:59:59+14:00"])
async def test_no_time_is_refused(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient, text: str) -> None:
    entry = gate.entry(token=tenant.token(await tenant.card()), occurred_at=text)
    assert await upload_one(device, entry) == ("activated", None, [])


async def test_a_device_of_the_sandbox_works_on_its_twin(tenant: Tenant, api: Api) -> None:
    twin = await factory.sandbox_twin(tenant)
    gate, card = await pair(twin), await twin.card()
    async with api.client(gate.key) as client:
        assert await upload_one(client, gate.entry(token=twin.token(card))) == ("activated", None, [])
        assert await upload_one(client, gate.entry(token=twin.token(card))) == (
            "recorded", "already_activated", ["duplicate"],
        )  # fmt: skip


async def test_an_event_that_ended_takes_journals_for_72_hours(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    tokens = [tenant.token(await tenant.card()) for _ in range(3)]
    before = gate.entry(token=tokens[0], occurred_at=now() - timedelta(minutes=30))
    await tenant.move_event(tenant.event_id, EventStatus.ENDED)
    assert await upload_one(device, before) == ("activated", None, [])
    after = gate.entry(token=tokens[1], occurred_at=now() + timedelta(minutes=1))
    assert await upload_one(device, after) == ("recorded", "event_not_active", ["outside_window"])
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE event SET ended_at = $2 WHERE organization_id = $1", tenant.id, now() - timedelta(hours=73)
        )
    late = gate.entry(token=tokens[2], occurred_at=now() - timedelta(hours=80))
    assert await upload_one(device, late) == ("rejected", "too_late", [])
