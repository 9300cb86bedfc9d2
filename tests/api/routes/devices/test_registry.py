"""GET /devices and what an admin key changes of them."""

from datetime import datetime
from uuid import uuid4

import httpx2
import pytest

from gatepass.domain.events import EventStatus
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.domain.devices import paired
from tests.factory import Tenant

SHOWN = {
    "id", "name", "event_id", "gate", "status", "paired_at", "paired_by", "last_seen_at", "queued", "clock_offset_ms",
    "app",
}  # fmt: skip


async def test_devices_are_listed_the_last_paired_first(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = [await paired.pair(tenant, gate=gate) for gate in ("North", "South", "East")]
    page = (await client.get("/devices", params={"limit": 2})).json()
    assert [one["id"] for one in page["data"]] == [str(one.device.id) for one in reversed(made[1:])]
    assert page["has_more"]
    rest = (await client.get("/devices", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert [one["gate"] for one in rest["data"]] == ["North"]
    assert not rest["has_more"]
    assert set(page["data"][0]) == SHOWN


async def test_devices_are_filtered_by_event_and_status(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    other = await tenant.event()
    here, there = await paired.pair(tenant), await paired.pair(tenant, event_id=other)
    await paired.retire(tenant, there.device)

    async def found(**query: str) -> set[str]:
        return {one["id"] for one in (await client.get("/devices", params=query)).json()["data"]}

    assert await found(event_id=str(other)) == {str(there.device.id)}
    assert await found(status="paired") == {str(here.device.id)}
    assert await found(status="retired", event_id=str(tenant.event_id)) == set()
    assert_error(await client.get("/devices", params={"status": "lost"}), 400, "invalid_request", param="status")
    assert_error(await client.get("/devices", params={"event_id": "x"}), 400, "invalid_request", param="event_id")


async def test_another_organizations_device_is_not_here(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    theirs = (await paired.pair(await factory.tenant(tenant.db))).device.id
    for id in (theirs, uuid4(), "x"):
        assert_error(await client.get(f"/devices/{id}"), 404, "device_not_found")
        assert_error(await client.patch(f"/devices/{id}", json={"name": "Mine"}), 404, "device_not_found")
        assert_error(await client.post(f"/devices/{id}/retire"), 404, "device_not_found")
        assert_error(await client.post(f"/devices/{id}/revoke"), 404, "device_not_found")
    assert (await client.get("/devices")).json()["data"] == []


async def test_a_device_is_renamed_and_moved(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    device, other = (await paired.pair(tenant)).device, await tenant.event()
    path = f"/devices/{device.id}"
    assert (await client.patch(path, json={"name": "Blue"})).json()["data"]["name"] == "Blue"
    moved = (await client.patch(path, json={"event_id": str(other), "gate": "South"})).json()["data"]
    assert (moved["event_id"], moved["gate"], moved["name"]) == (str(other), "South", "Blue")
    assert (await client.get(path)).json()["data"] == moved
    assert (await client.patch(path, json={})).json()["data"] == moved


async def test_a_move_that_cannot_be_is_refused(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    path = f"/devices/{(await paired.pair(tenant)).device.id}"
    over = await tenant.event(status=EventStatus.CANCELLED)
    assert_error(await client.patch(path, json={"event_id": str(uuid4())}), 404, "event_not_found")
    assert_error(await client.patch(path, json={"event_id": str(over)}), 409, "not_allowed")
    assert_error(await client.patch(path, json={"event_id": "x"}), 400, "invalid_request", param="event_id")
    assert_error(await client.patch(path, json={"gate": "a\nb"}), 400, "invalid_request", param="gate")
    assert_error(await client.patch(path, json={"name": "\u202e"}), 400, "invalid_request", param="name")


async def test_a_device_is_retired_and_revoked_once(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    path = f"/devices/{(await paired.pair(tenant)).device.id}"
    for _ in range(2):
        assert (await client.post(f"{path}/retire")).json()["data"]["status"] == "retired"
    assert_error(await client.patch(path, json={"gate": "South"}), 409, "not_allowed")
    for _ in range(2):
        assert (await client.post(f"{path}/revoke")).json()["data"]["status"] == "revoked"
    assert_error(await client.post(f"{path}/retire"), 409, "not_allowed")


async def test_a_heartbeat_measures_the_clock(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    device = await paired.pair(tenant)
    late = datetime.fromtimestamp(factory.now().timestamp() - 90, tz=factory.now().tzinfo)
    async with api.client(device.key) as own:
        body = {"at": late.isoformat(), "queued": 3, "app": "test/1"}
        answer = (await own.post("/devices/heartbeat", json=body)).json()["data"]
        assert set(answer) == {"now", "device", "event", "settings"}
        assert -92_000 < answer["device"]["clock_offset_ms"] < -88_000
        assert answer["settings"] == {"offline": "manifest", "answer_within_ms": 1500}
        assert set(answer["event"]) == {"ends_at", "doors_open_at"}
        again = await own.post("/devices/heartbeat", json={**body, "queued": 9})
        assert again.json()["data"]["device"]["queued"] == 3, "written once in 5 seconds"
    shown = (await client.get(f"/devices/{device.device.id}")).json()["data"]
    assert (shown["queued"], shown["app"]) == (3, "test/1")
    assert shown["last_seen_at"] is not None


@pytest.mark.parametrize(
    "body",
    [
        {}, {"at": "yesterday", "queued": 1}, {"at": "2026-01-01T00:00:00Z", "queued": -1},
        {"at": "2026-01-01T00:00:00Z", "queued": 1.5}, {"at": "2026-01-01T00:00:00Z", "queued": 10**9},
        {"at": "2026-01-01T00:00:00Z", "queued": 1, "app": "a\u0000b"},
        {"at": "2026-01-01T00:00:00Z", "queued": 1, "app": "x" * 101},
    ],
)  # fmt: skip
async def test_a_broken_heartbeat_is_refused(api: Api, tenant: Tenant, body: dict[str, object]) -> None:
    async with api.client((await paired.pair(tenant)).key) as own:
        assert_error(await own.post("/devices/heartbeat", json=body), 400, "invalid_request")


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
async def test_a_clock_that_is_centuries_off_is_bounded(api: Api, tenant: Tenant, at: str) -> None:
    async with api.client((await paired.pair(tenant)).key) as own:
        answer = await own.post("/devices/heartbeat", json={"at": at, "queued": 0})
    assert abs(answer.json()["data"]["device"]["clock_offset_ms"]) == 2**31 - 1
