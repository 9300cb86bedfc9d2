"""/webhooks/{id}/replay: count, start and list replays, within limits."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from gatepass.base.clock import rfc3339
from gatepass.domain import webhooks
from gatepass.domain.webhooks.replay_requests import MOST_RUNNING
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.api.subscriptions import changes_of, create, send_all
from tests.factory import Tenant

FIELDS = {"id", "status", "total", "done", "since", "until", "types", "statuses", "created_at", "ended_at"}


async def replay(client: httpx2.AsyncClient, endpoint: dict[str, Any], **body: Any) -> httpx2.Response:
    return await client.post(f"/webhooks/{endpoint['id']}/replay", json=body)


async def replays(client: httpx2.AsyncClient, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
    return (await client.get(f"/webhooks/{endpoint['id']}/replay")).json()["data"]


async def finish(tenant: Tenant) -> None:
    """Finish all replays, as workers do."""
    while True:
        async with tenant.db.transaction() as tx:
            if not await webhooks.advance_some(tx, at=factory.now()):
                return


@pytest.fixture
async def endpoint(client: httpx2.AsyncClient, tenant: Tenant) -> dict[str, Any]:
    """An endpoint with five deliveries: three delivered, two failed."""
    made = await create(client)
    await tenant.tell(3)
    await send_all(tenant, made["id"])
    await tenant.tell(2)
    await send_all(tenant, made["id"], status=500)
    return made


async def test_a_dry_run_only_counts(client: httpx2.AsyncClient, endpoint: dict[str, Any]) -> None:
    for body, total in (
        ({}, 5),
        ({"statuses": ["failed"]}, 2),
        ({"statuses": ["delivered", "failed", "failed"]}, 5),
        ({"types": ["ticket.cancelled"]}, 0),
        ({"since": rfc3339(factory.now() - timedelta(hours=1))}, 5),
        ({"until": rfc3339(factory.now() - timedelta(hours=1))}, 0),
        ({"since": None, "until": None, "types": None, "statuses": None, "delivery_id": None}, 5),
    ):
        answer = await replay(client, endpoint, dry_run=True, **body)
        assert (answer.status_code, answer.json()) == (200, {"data": {"total": total}})
    assert await replays(client, endpoint) == []


async def test_a_replay_is_begun_and_followed(
    client: httpx2.AsyncClient, tenant: Tenant, endpoint: dict[str, Any]
) -> None:
    answer = await replay(client, endpoint, statuses=["failed"], types=["ticket.activated"])
    assert answer.status_code == 202
    begun = answer.json()["data"]
    assert begun.keys() == FIELDS
    assert (begun["status"], begun["total"], begun["done"], begun["ended_at"]) == ("running", 2, 0, None)
    assert (begun["types"], begun["statuses"]) == (["ticket.activated"], ["failed"])
    assert await replays(client, endpoint) == [begun]
    await finish(tenant)
    (done,) = await replays(client, endpoint)
    assert (done["status"], done["total"], done["done"]) == ("done", 2, 2)
    assert done["ended_at"] is not None
    found = (await client.get(f"/webhooks/{endpoint['id']}/deliveries")).json()["data"]
    assert [one["replay_id"] for one in found] == [begun["id"]] * 2 + [None] * 5
    assert await send_all(tenant, endpoint["id"], lane=1) == 2
    assert (await changes_of(tenant, endpoint["id"]))[-1] == ("replayed", None, "2 to be sent again")


async def test_without_a_body_it_is_the_last_day(client: httpx2.AsyncClient, endpoint: dict[str, Any]) -> None:
    answer = await client.post(f"/webhooks/{endpoint['id']}/replay")
    begun = answer.json()["data"]
    assert (answer.status_code, begun["total"], begun["types"]) == (202, 5, None)
    assert begun["statuses"] == ["delivered", "failed"]


async def test_one_delivery_is_sent_again(client: httpx2.AsyncClient, tenant: Tenant, endpoint: dict[str, Any]) -> None:
    failed, *_ = (await client.get(f"/webhooks/{endpoint['id']}/deliveries?status=failed")).json()["data"]
    counted = await replay(client, endpoint, delivery_id=failed["id"], dry_run=True)
    assert (counted.status_code, counted.json()) == (200, {"data": {"total": 1}})
    answer = await replay(client, endpoint, delivery_id=failed["id"])
    begun = answer.json()["data"]
    assert (answer.status_code, begun["status"], begun["total"], begun["done"]) == (202, "done", 1, 1)
    again, *_ = (await client.get(f"/webhooks/{endpoint['id']}/deliveries")).json()["data"]
    assert (again["event_id"], again["replay_id"], again["status"]) == (failed["event_id"], begun["id"], "pending")
    shown = await client.get(f"/webhooks/{endpoint['id']}/deliveries/{again['id']}")
    assert shown.json()["data"]["body"] is not None
    assert_error(await replay(client, endpoint, delivery_id=again["id"]), 409, "not_allowed")
    assert await send_all(tenant, endpoint["id"], lane=1) == 1


async def test_a_delivery_that_is_not_there(client: httpx2.AsyncClient, endpoint: dict[str, Any]) -> None:
    other = await create(client)
    failed, *_ = (await client.get(f"/webhooks/{endpoint['id']}/deliveries?status=failed")).json()["data"]
    for dry_run in (True, False):
        for where, id in ((endpoint, str(uuid4())), (other, failed["id"])):
            assert_error(await replay(client, where, delivery_id=id, dry_run=dry_run), 404, "delivery_not_found")


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "since is no time": ({"since": "yesterday"}, "since"),
    "since without an offset": ({"since": "2026-01-01T00:00:00"}, "since"),
    "since is a number": ({"since": 1}, "since"),
    "since too long ago": ({"since": "2020-01-01T00:00:00Z"}, "since"),
    "until in the future": ({"until": "2999-01-01T00:00:00Z"}, "until"),
    "until at the end of time": ({"until": "9999-12-31T23:59:59-23:59"}, "until"),
    "until at the beginning": ({"until": "0001-01-01T00:00:00+23:59"}, "until"),
    "an unknown type": ({"types": ["ticket.sold"]}, "types"),
    "no type": ({"types": []}, "types"),
    "a status of ours": ({"statuses": ["pending"]}, "statuses"),
    "no status": ({"statuses": []}, "statuses"),
    "a delivery that is none": ({"delivery_id": "x"}, "delivery_id"),
    "a delivery and a filter": ({"delivery_id": str(uuid4()), "statuses": ["failed"]}, "delivery_id"),
    "dry_run is no truth": ({"dry_run": "yes"}, "dry_run"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_replay(client: httpx2.AsyncClient, name: str) -> None:
    body, param = BAD[name]
    assert_error(await replay(client, await create(client), **body), 400, "invalid_request", param=param)


async def test_four_run_at_a_time(client: httpx2.AsyncClient, tenant: Tenant, endpoint: dict[str, Any]) -> None:
    answers = await asyncio.gather(*[replay(client, endpoint) for _ in range(MOST_RUNNING + 3)])
    assert sorted(answer.status_code for answer in answers) == [202] * MOST_RUNNING + [409] * 3
    assert_error(await replay(client, endpoint), 409, "not_allowed")
    await finish(tenant)
    assert (await replay(client, endpoint)).status_code == 202


async def test_counting_is_done_by_one_at_a_time(
    api: Api, client: httpx2.AsyncClient, tenant: Tenant, endpoint: dict[str, Any]
) -> None:
    """A count of a million rows holds a connection, and scans need connections. A second count gets 503."""
    async with api.state.counting():
        assert_error(await replay(client, endpoint, dry_run=True), 503, "overloaded")
        assert_error(await replay(client, endpoint), 503, "overloaded")
        card = await tenant.card()
        assert (await client.post("/scan", json=scan_body(tenant, card.number))).status_code == 200
    assert (await replay(client, endpoint, dry_run=True)).status_code == 200


async def test_replays_are_listed_newest_first(
    client: httpx2.AsyncClient, tenant: Tenant, endpoint: dict[str, Any]
) -> None:
    begun = [(await replay(client, endpoint)).json()["data"]["id"] for _ in range(MOST_RUNNING)]
    url = f"/webhooks/{endpoint['id']}/replay"
    first = (await client.get(url, params={"limit": 3})).json()
    second = (await client.get(url, params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [one["id"] for page in (first, second) for one in page["data"]] == begun[::-1]
    assert (first["has_more"], second["has_more"], second["next_cursor"]) == (True, False, None)
    await finish(tenant)
    assert {one["status"] for one in await replays(client, endpoint)} == {"done"}


async def test_a_paused_endpoint_holds_its_replay(
    client: httpx2.AsyncClient, tenant: Tenant, endpoint: dict[str, Any]
) -> None:
    await client.patch(f"/webhooks/{endpoint['id']}", json={"status": "paused"})
    assert (await replay(client, endpoint)).status_code == 202
    await finish(tenant)
    held = (await client.get(f"/webhooks/{endpoint['id']}/deliveries?status=held")).json()["data"]
    assert len(held) == 5
    assert await send_all(tenant, endpoint["id"], lane=1) == 0
    await client.patch(f"/webhooks/{endpoint['id']}", json={"status": "active"})
    assert await send_all(tenant, endpoint["id"], lane=1) == 5
