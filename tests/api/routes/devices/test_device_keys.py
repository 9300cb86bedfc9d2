"""The key of a device opens its own event and gate, and nothing else, from the very request after a change."""

import re
from uuid import uuid4

import pytest

from gatepass.api.openapi.operations import NOTES
from gatepass.api.routes import routers
from gatepass.domain.events import EventStatus
from tests.api.conftest import Api, assert_error, scan_body
from tests.api.endpoints import ENDPOINTS, Endpoint
from tests.domain.devices import paired
from tests.factory import Tenant

# All that a device may call; the contract of devices has this list.
OPEN = {
    ("POST", "/scan"),
    ("POST", "/scans/batch"),
    ("POST", "/devices/heartbeat"),
    ("GET", "/events/{id}"),
    ("GET", "/events/{id}/manifest"),
    ("GET", "/events/{id}/manifest/stream"),
    ("GET", "/card/keys"),
    ("GET", "/card/verify"),
}
ONLY_FOR_DEVICES = {path for _, path in OPEN} - {"/scan", "/events/{id}", "/card/keys", "/card/verify"}
# What remains of it for a retired device: the upload.
FOR_RETIRED = {("POST", "/scans/batch"), ("POST", "/devices/heartbeat")}


def is_open(endpoint: Endpoint) -> bool:
    return (endpoint.method, endpoint.path) in OPEN


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if not is_open(one)], ids=str)
async def test_every_other_endpoint_is_closed(api: Api, tenant: Tenant, endpoint: Endpoint) -> None:
    device = await paired.pair(tenant)
    async with api.client(device.key) as client:
        assert_error(await endpoint.call(client), 403, "insufficient_scope")


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if is_open(one)], ids=str)
async def test_its_own_endpoints_are_open_for_its_own_event(api: Api, tenant: Tenant, endpoint: Endpoint) -> None:
    device = await paired.pair(tenant)
    own = Endpoint(endpoint.method, re.sub("{id}", str(tenant.event_id), endpoint.path))
    async with api.client(device.key) as client:
        assert (await own.call(client)).status_code not in (401, 403)


def test_the_walk_sees_every_public_route() -> None:
    assert {(one.method, one.path) for one in ENDPOINTS} == {
        (method, route.path) for route in routers.ROUTES for method in route.methods or ()
    }
    assert len([one for one in ENDPOINTS if not is_open(one)]) > 35
    assert NOTES


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if one.path in ONLY_FOR_DEVICES], ids=str)
async def test_other_keys_do_not_open_what_is_for_devices(api: Api, tenant: Tenant, endpoint: Endpoint) -> None:
    async with api.client((await tenant.key()).text) as client:
        answer = await endpoint.call(client)
    assert_error(answer, 403, "insufficient_scope")
    assert answer.json()["error"].startswith("Only the key of a device")


async def test_another_event_does_not_exist_for_a_device(api: Api, tenant: Tenant) -> None:
    device, other = await paired.pair(tenant), await tenant.event()
    card = await tenant.card()
    async with api.client(device.key) as client:
        for event_id in (other, uuid4()):
            scan = {"event_id": str(event_id), "card_number": card.number}
            assert_error(await client.post("/scan", json=scan), 404, "event_not_found")
            assert_error(await client.get(f"/events/{event_id}"), 404, "event_not_found")
        assert (await client.get(f"/events/{tenant.event_id}")).status_code == 200


async def test_a_scan_is_stored_with_the_assigned_gate(api: Api, tenant: Tenant) -> None:
    device, card = await paired.pair(tenant, gate="North"), await tenant.card()
    async with api.client(device.key) as client, api.client((await tenant.key()).text) as other:
        body = scan_body(tenant, card.number, gate="Backstage")
        assert (await client.post("/scan", json=body)).status_code == 200
        (scan,) = (await other.get("/scans", params={"event_id": str(tenant.event_id)})).json()["data"]
    assert scan["gate"] == "North"


async def test_a_retry_is_the_same_scan_after_the_device_was_moved(api: Api, tenant: Tenant) -> None:
    device, card = await paired.pair(tenant, gate="North"), await tenant.card()
    body, headers = scan_body(tenant, card.number, gate="North"), {"Idempotency-Key": str(uuid4())}
    async with api.client(device.key) as client:
        first = await client.post("/scan", json=body, headers=headers)
        await paired.move(tenant, device.device, gate="South")
        again = await client.post("/scan", json=body, headers=headers)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.headers["Idempotent-Replayed"] == "true"


async def test_a_moved_device_works_for_its_new_gate_at_once(api: Api, tenant: Tenant) -> None:
    device = await paired.pair(tenant, gate="North")
    cards = [await tenant.card() for _ in range(2)]
    async with api.client(device.key) as client, api.client((await tenant.key()).text) as other:
        assert (await client.post("/scan", json=scan_body(tenant, cards[0].number))).status_code == 200
        await paired.move(tenant, device.device, gate="South")
        assert (await client.post("/scan", json=scan_body(tenant, cards[1].number))).status_code == 200
        scans = (await other.get("/scans", params={"event_id": str(tenant.event_id)})).json()["data"]
    assert [scan["gate"] for scan in scans] == ["South", "North"]


async def test_a_device_moved_to_another_event_leaves_its_old_one_at_once(api: Api, tenant: Tenant) -> None:
    device, new = await paired.pair(tenant), await tenant.event(status=EventStatus.PUBLISHED)
    card = await tenant.card()
    async with api.client(device.key) as client:
        assert (await client.post("/scan", json=scan_body(tenant, (await tenant.card()).number))).status_code == 200
        await paired.move(tenant, device.device, event_id=new)
        assert_error(await client.post("/scan", json=scan_body(tenant, card.number)), 404, "event_not_found")
        scan = {"event_id": str(new), "card_number": card.number}
        assert_error(await client.post("/scan", json=scan), 404, "ticket_not_found")


async def test_a_retired_device_may_only_upload(api: Api, tenant: Tenant) -> None:
    device, card = await paired.pair(tenant), await tenant.card()
    body, token = scan_body(tenant, card.number), {"token": tenant.token(card)}
    async with api.client(device.key) as client:
        assert (await client.get("/card/verify", params=token)).json()["valid"]
        assert_error(await client.post("/scan", json={**body, "card_number": "SVC 0"}), 404, "card_not_found")
        await paired.retire(tenant, device.device)
        for _ in range(2):
            assert_error(await client.get("/card/verify", params=token), 403, "insufficient_scope")
            assert_error(await client.post("/scan", json=body), 403, "insufficient_scope")
        for endpoint in ENDPOINTS:
            own = Endpoint(endpoint.method, re.sub("{id}", str(tenant.event_id), endpoint.path))
            answer = await own.call(client)
            assert answer.status_code != 401
            assert (answer.status_code == 403) is ((endpoint.method, endpoint.path) not in FOR_RETIRED), own


async def test_a_revoked_device_is_refused_with_its_next_request(api: Api, tenant: Tenant) -> None:
    device, card = await paired.pair(tenant), await tenant.card()
    async with api.client(device.key) as client:
        assert (await client.post("/scan", json=scan_body(tenant, card.number))).status_code == 200
        await paired.revoke(tenant, device.device)
        for endpoint in ENDPOINTS:
            assert_error(await endpoint.call(client), 401, "device_revoked")
