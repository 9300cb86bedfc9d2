"""Deliveries and pings: newest first, by page and by filter, each with its attempts and the bytes of its body."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import Message, MessageType, deliveries
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.api.subscriptions import create, send_all
from tests.factory import Tenant

FIELDS = {
    *("id", "event_id", "type", "status", "attempts", "next_attempt_at", "last_status", "last_error", "created_at"),
    *("ended_at", "replay_id"),
}


async def listed(client: httpx2.AsyncClient, endpoint: dict[str, Any], **params: Any) -> list[dict[str, Any]]:
    """All deliveries, over all pages."""
    found: list[dict[str, Any]] = []
    while True:
        answer = await client.get(f"/webhooks/{endpoint['id']}/deliveries", params=params)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert page["has_more"] == (page["next_cursor"] is not None) == ("Link" in answer.headers)
        found += page["data"]
        if not page["has_more"]:
            return found
        params["cursor"] = page["next_cursor"]


def event_ids(found: list[dict[str, Any]]) -> list[str]:
    return [one["event_id"] for one in found]


def written(ids: list[UUID]) -> list[str]:
    return [webhooks.written_id(id) for id in ids]


async def test_deliveries_are_listed_newest_first(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    told = [(await tenant.tell())[0] for _ in range(7)]
    found = await listed(client, endpoint)
    assert event_ids(found) == written(told)[::-1]
    assert found[0].keys() == FIELDS
    assert {(one["status"], one["attempts"], one["ended_at"]) for one in found} == {("pending", 0, None)}
    for limit in (1, 2, 3, 7, 100):
        assert await listed(client, endpoint, limit=limit) == found


async def test_many_that_came_at_the_same_moment_are_paged_too(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    told = await tenant.tell(25)
    found = await listed(client, endpoint, limit=4)
    assert sorted(event_ids(found)) == sorted(written(told))


async def test_what_came_of_a_delivery(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    await tenant.tell()
    await send_all(tenant, endpoint["id"])
    await tenant.tell()
    await send_all(tenant, endpoint["id"], status=500)
    failed, delivered = await listed(client, endpoint)
    assert (delivered["status"], delivered["attempts"], delivered["last_status"]) == ("delivered", 1, 200)
    assert (failed["status"], failed["attempts"], failed["last_status"]) == ("failed", 1, 500)
    for one in (failed, delivered):
        assert one["ended_at"] is not None
        assert one["next_attempt_at"] is None


async def test_what_is_pending_is_held_while_its_endpoint_is_paused(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    url = f"/webhooks/{endpoint['id']}"
    await tenant.tell()
    await send_all(tenant, endpoint["id"])
    await tenant.tell(2)
    for status, waiting, other in (("active", "pending", "held"), ("paused", "held", "pending")):
        await client.patch(url, json={"status": status})
        found = await listed(client, endpoint)
        assert [one["status"] for one in found] == [waiting, waiting, "delivered"]
        assert [one["next_attempt_at"] is None for one in found] == [waiting == "held"] * 2 + [True]
        assert await listed(client, endpoint, status=waiting) == found[:2]
        assert await listed(client, endpoint, status=other) == []
        assert await listed(client, endpoint, status="delivered") == found[2:]


async def test_filters(client: httpx2.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page looks through a bounded number of deliveries; if few of them match, `has_more` is true."""
    endpoint = await create(client)
    await tenant.tell(3, type=MessageType.TICKET_CANCELLED)
    await send_all(tenant, endpoint["id"], status=500)
    for _ in range(20):
        await tenant.tell()
    await send_all(tenant, endpoint["id"])
    await tenant.tell(2)
    everything = await listed(client, endpoint)
    monkeypatch.setattr(deliveries, "LOOKED_THROUGH", 4)
    for params in (
        {"status": "failed"},
        {"type": "ticket.cancelled"},
        {"status": "failed", "type": "ticket.cancelled"},
    ):
        for limit in (1, 2, 100):
            assert await listed(client, endpoint, limit=limit, **params) == everything[-3:]
    assert await listed(client, endpoint, status="delivered", limit=3) == everything[2:22]
    assert await listed(client, endpoint, status="pending") == everything[:2]
    assert await listed(client, endpoint, status="failed", type="ticket.activated") == []
    first = await client.get(f"/webhooks/{endpoint['id']}/deliveries", params={"status": "failed", "limit": 50})
    assert first.json()["data"] == []
    assert "status=failed&limit=50&cursor=" in first.headers["Link"]


async def test_bad_filters(client: httpx2.AsyncClient) -> None:
    url = f"/webhooks/{(await create(client))['id']}/deliveries"
    for name, values in {
        "status": ["", "gone", "PENDING", "pending "],
        "type": ["", "ticket.sold", "ticket"],
        "limit": ["0", "101", "x"],
        "cursor": ["", "x", "MS4"],
    }.items():
        for value in values:
            assert_error(await client.get(url, params={name: value}), 400, "invalid_request", param=name)


async def test_one_delivery_with_its_attempts_and_its_body(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    url = f"/webhooks/{endpoint['id']}/deliveries"
    (event_id,) = await tenant.tell()
    (pending,) = await listed(client, endpoint)
    shown = (await client.get(f"{url}/{pending['id']}")).json()["data"]
    assert {name: shown[name] for name in FIELDS} == pending
    assert shown["attempts_made"] == []
    await send_all(tenant, endpoint["id"])
    shown = (await client.get(f"{url}/{pending['id']}")).json()["data"]
    (attempt,) = shown["attempts_made"]
    assert (attempt["n"], attempt["status"], attempt["address"], attempt["answer_head"]) == (
        1,
        200,
        "192.0.2.1",
        "well",
    )
    assert (attempt["dns_ms"], attempt["connect_ms"], attempt["answer_ms"], attempt["total_ms"]) == (1, 2, 3, 4)
    async with tenant.db.autocommit() as tx:
        body = await tx.value(
            "SELECT body FROM webhook_event WHERE organization_id = $1 AND id = $2", tenant.id, event_id
        )
    assert shown["body"] == body.decode()
    assert json.loads(shown["body"])["id"] == shown["event_id"]


async def test_a_delivery_is_found_among_many(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """By its id, pending or sent."""
    endpoint, other = await create(client), await create(client)
    for _ in range(3):
        await tenant.tell(20)
        await send_all(tenant, endpoint["id"])
    await tenant.tell(20)
    found = await listed(client, endpoint)
    assert len(found) == 80
    for one in found[::7]:
        shown = await client.get(f"/webhooks/{endpoint['id']}/deliveries/{one['id']}")
        assert shown.json()["data"]["event_id"] == one["event_id"]
        elsewhere = await client.get(f"/webhooks/{other['id']}/deliveries/{one['id']}")
        assert_error(elsewhere, 404, "delivery_not_found")
    for id in (str(uuid4()), "x", found[0]["event_id"]):
        assert_error(await client.get(f"/webhooks/{endpoint['id']}/deliveries/{id}"), 404, "delivery_not_found")
    assert_error(await client.get(f"/webhooks/x/deliveries/{found[0]['id']}"), 404, "webhook_not_found")


async def test_a_body_that_is_no_longer_kept(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    await tenant.tell()
    async with tenant.db.transaction() as tx:
        await tx.run("DELETE FROM webhook_event WHERE organization_id = $1", tenant.id)
    (one,) = await listed(client, endpoint)
    assert (await client.get(f"/webhooks/{endpoint['id']}/deliveries/{one['id']}")).json()["data"]["body"] is None


async def test_a_ping_goes_to_one_endpoint_whatever_it_asks_for(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint, other = await create(client, types=["scan.denied"]), await create(client)
    answer = await client.post(f"/webhooks/{endpoint['id']}/test")
    assert answer.status_code == 202
    ping = answer.json()["data"]
    assert (ping["type"], ping["status"], ping["attempts"], ping["replay_id"]) == ("webhook.ping", "pending", 0, None)
    assert await listed(client, endpoint) == [ping]
    assert await listed(client, other) == []
    shown = (await client.get(f"/webhooks/{endpoint['id']}/deliveries/{ping['id']}")).json()["data"]
    body = json.loads(shown["body"])
    assert body["data"] == {"webhook_id": endpoint["id"]}
    assert (body["id"], body["type"], body["organization_id"]) == (ping["event_id"], "webhook.ping", str(tenant.id))
    assert await send_all(tenant, endpoint["id"]) == 1


async def test_a_ping_goes_at_once_to_one_that_is_left_alone(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET blocked_until = now() + '1 hour' WHERE organization_id = $1", tenant.id
        )
    await tenant.tell()
    assert await send_all(tenant, endpoint["id"]) == 0
    assert (await client.post(f"/webhooks/{endpoint['id']}/test")).status_code == 202
    assert await send_all(tenant, endpoint["id"]) == 2


async def test_a_paused_endpoint_is_not_pinged(client: httpx2.AsyncClient) -> None:
    endpoint = await create(client)
    await client.patch(f"/webhooks/{endpoint['id']}", json={"status": "paused"})
    assert_error(await client.post(f"/webhooks/{endpoint['id']}/test"), 409, "not_allowed")
    assert await listed(client, endpoint) == []


async def test_many_pings_at_once(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    endpoint = await create(client)
    answers = await asyncio.gather(*[client.post(f"/webhooks/{endpoint['id']}/test") for _ in range(6)])
    assert {answer.status_code for answer in answers} == {202}
    ids = {answer.json()["data"]["id"] for answer in answers}
    assert {one["id"] for one in await listed(client, endpoint)} == ids
    assert len(ids) == 6


async def test_the_sandbox_lists_its_own(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    live = await create(client)
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as sandbox:
        endpoint = await create(sandbox)
        async with tenant.db.transaction() as tx:
            message = Message(uuid4(), MessageType.TICKET_ACTIVATED, {})
            at = factory.now() - timedelta(seconds=1)
            await webhooks.emit(tx, tenant.id, [message], at=at, mode=Mode.SANDBOX)
        assert event_ids(await listed(sandbox, endpoint)) == [webhooks.written_id(message.id)]
        url = f"/webhooks/{live['id']}/deliveries"
        assert_error(await sandbox.get(url), 404, "webhook_not_found")
    assert await listed(client, live) == []
