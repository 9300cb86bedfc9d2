"""/tickets: issued once, never beyond the places, one person on one card; a batch item harms no other."""

import asyncio
from collections import Counter
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from gatepass.api.routes.card_schemas import LARGEST_BATCH
from gatepass.domain.keys import Mode, Scope
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.api.test_idempotency import assert_replay
from tests.factory import Tenant

ANN = {"name": "Ann", "email": "ann@example.org"}


def wish(tenant: Tenant, **more: Any) -> dict[str, Any]:
    """A ticket for Ann, or on the card that is named."""
    card = {} if more.keys() & {"card_id", "card_number", "holder"} else {"holder": ANN}
    return {"event_id": str(tenant.event_id), "category_id": str(tenant.category_id), **card, **more}


async def post(client: httpx2.AsyncClient, path: str, body: Any, key: str | None = None) -> httpx2.Response:
    """Again with the same key while the service is busy, as a client does."""
    headers = {"Idempotency-Key": key or str(uuid4())}
    while (answer := await client.post(path, json=body, headers=headers)).status_code == 503:
        pass
    return answer


async def issued(client: httpx2.AsyncClient, body: dict[str, Any], status: int = 201) -> dict[str, Any]:
    answer = await post(client, "/tickets", body)
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


async def sold(tenant: Tenant) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value(SOLD, tenant.id, tenant.category_id)


async def test_a_ticket_from_issue_to_cancellation(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await issued(client, wish(tenant, external_id="A-1"))
    assert made | {"tier": "standard", "category_name": "General", "state": "issued", "external_id": "A-1"} == made
    assert (made["event_id"], made["category_id"]) == (str(tenant.event_id), str(tenant.category_id))
    assert "holder" not in made
    assert (made["activated_at"], made["gate"], made["cancelled_at"]) == (None, None, None)
    read = await client.get(f"/tickets/{made['id']}")
    assert read.json()["data"] == made
    scan = await client.post("/scan", json=scan_body(tenant, made["card_number"], gate="North", scanner_id="s-1"))
    assert scan.status_code == 200
    used = await client.get(f"/tickets/{made['id']}")
    assert used.headers["etag"] != read.headers["etag"]
    now = used.json()["data"]
    assert (now["state"], now["gate"], now["scanner_id"]) == ("activated", "North", "s-1")
    assert now["updated_at"] == now["activated_at"] > made["updated_at"]
    gone = await post(client, f"/tickets/{made['id']}/cancel", {"reason": "refunded"})
    assert (gone.json()["data"]["state"], gone.json()["data"]["cancel_reason"]) == ("cancelled", "refunded")
    again = await post(client, f"/tickets/{made['id']}/cancel", {"reason": "refunded"})
    assert_error(again, 422, "ticket_cancelled")
    assert await sold(tenant) == 0
    assert (await issued(client, wish(tenant, external_id="A-1"), 200))["state"] == "cancelled"


async def test_an_external_id_with_other_content(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    first = await issued(client, wish(tenant, external_id="A-1"))
    same = wish(tenant, external_id="A-1", holder={"name": "Ann", "email": "ANN@example.org"})
    assert await issued(client, same, 200) == first
    other = await post(client, "/tickets", wish(tenant, external_id="A-1", holder={"name": "Bob"}))
    assert_error(other, 409, "external_id_taken", param="external_id")
    assert await sold(tenant) == 1


async def test_a_retry_gets_its_answer_again(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    first = await post(client, "/tickets", wish(tenant), "k")
    assert_replay(await post(client, "/tickets", wish(tenant), "k"), first)
    assert_error(await post(client, "/tickets", wish(tenant, external_id="x"), "k"), 422, "idempotency_key_reused")
    assert await sold(tenant) == 1


async def test_the_last_ten_places_for_fifty_callers(client: httpx2.AsyncClient, tenant: Tenant, api: Api) -> None:
    small = await factory.tenant(tenant.db, places=10)
    async with api.client((await small.key()).text) as shop:
        body = wish(small, holder={"name": "Guest"})
        answers = await asyncio.gather(*(post(shop, "/tickets", body) for _ in range(50)))
    assert Counter(answer.status_code for answer in answers) == {201: 10, 409: 40}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"sold_out"}
    assert await sold(small) == 10


async def test_one_external_id_fifty_times_at_once(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    answers = await asyncio.gather(*(post(client, "/tickets", wish(tenant, external_id="A-1")) for _ in range(50)))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 49}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    assert await sold(tenant) == 1


async def test_every_item_of_a_batch_has_its_result(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    items: list[Any] = [
        wish(tenant, external_id="a"),
        {"event_id": str(tenant.event_id)},
        wish(tenant, card_id=str(card.id)),
        wish(tenant, category_id=str(uuid4())),
        17,
        wish(tenant, holder={"name": "\x00"}),
        wish(tenant, card_number=card.number, holder=ANN),
        wish(tenant, external_id="a"),
    ]
    answer = await post(client, "/tickets/batch", {"tickets": items}, "k")
    assert answer.status_code == 200
    results = answer.json()["data"]
    assert [result["status"] for result in results] == [201, 400, 409, 404, 400, 400, 400, 200]
    assert [result.get("code") for result in results] == [
        None, "invalid_request", "card_has_ticket", "category_not_found", "invalid_request", "invalid_request",
        "invalid_request", None,
    ]  # fmt: skip
    assert results[1]["param"] == "category_id"
    assert results[0]["data"] == results[7]["data"]
    assert_replay(await post(client, "/tickets/batch", {"tickets": items}, "k"), answer)
    assert await sold(tenant) == 2


async def test_a_batch_of_a_thousand(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    tickets = [wish(tenant, holder={"email": f"{n}@example.org"}, external_id=str(n)) for n in range(1_000)]
    answer = await post(client, "/tickets/batch", {"tickets": tickets})
    results = answer.json()["data"]
    assert Counter(result["status"] for result in results) == {201: 1_000}
    assert [result["data"]["external_id"] for result in results] == [str(n) for n in range(1_000)]
    assert_error(
        await post(client, "/tickets/batch", {"tickets": [*tickets, {}]}), 400, "invalid_request", param="tickets"
    )
    large = await client.post("/tickets/batch", content=b" " * (LARGEST_BATCH + 1))
    assert_error(large, 413, "request_too_large")


async def test_a_ticket_is_transferred(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await issued(client, wish(tenant))
    moved = await post(client, f"/tickets/{made['id']}/transfer", {"holder": {"email": "bob@example.org"}})
    assert moved.status_code == 200
    assert moved.json()["data"]["card_id"] != made["card_id"]
    assert moved.json()["data"]["updated_at"] > made["updated_at"]
    back = await post(client, f"/tickets/{made['id']}/transfer", {"card_id": made["card_id"]})
    assert back.json()["data"]["card_number"] == made["card_number"]
    both = await post(client, f"/tickets/{made['id']}/transfer", {"card_id": made["card_id"], "holder": ANN})
    assert_error(both, 400, "invalid_request", param="card_id")


async def test_lists_and_their_filters(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = [await issued(client, wish(tenant, holder={"name": "x"}, external_id=str(n))) for n in range(5)]
    await post(client, f"/tickets/{made[0]['id']}/cancel", {"reason": "x"})

    async def ids(**params: str) -> list[str]:
        page = (await client.get("/tickets", params=params)).json()
        found = [one["id"] for one in page["data"]]
        return found + (await ids(**params, cursor=page["next_cursor"]) if page["has_more"] else [])

    newest_first = [one["id"] for one in reversed(made)]
    assert await ids() == await ids(event_id=str(tenant.event_id)) == newest_first
    assert (await client.get("/tickets", params={"limit": "2"})).headers["link"].endswith('; rel="next"')
    assert await ids(card_id=made[1]["card_id"]) == await ids(external_id="1") == [made[1]["id"]]
    assert await ids(state="cancelled") == await ids(updated_after=made[4]["updated_at"]) == [made[0]["id"]]
    assert await ids(event_id=str(uuid4())) == []
    for name, value in {
        "state": "used", "event_id": "x", "card_id": "x", "external_id": "\x00", "updated_after": "now", "cursor": "x",
    }.items():  # fmt: skip
        assert_error(await client.get("/tickets", params={name: value}), 400, "invalid_request", param=name)


async def test_tickets_of_others_and_of_the_sandbox(client: httpx2.AsyncClient, tenant: Tenant, api: Api) -> None:
    made = await issued(client, wish(tenant, external_id="A-1"))
    stranger = await factory.tenant(tenant.db)
    keys = {Mode.LIVE: await stranger.key(), Mode.SANDBOX: await tenant.key(mode=Mode.SANDBOX)}
    for key in keys.values():
        async with api.client(key.text) as other:
            assert_error(await other.get(f"/tickets/{made['id']}"), 404, "ticket_not_found")
            assert (await other.get("/tickets", params={"external_id": "A-1"})).json()["data"] == []
            answer = await post(other, f"/tickets/{made['id']}/cancel", {"reason": "x"})
            assert_error(answer, 404, "ticket_not_found")
            assert_error(await post(other, "/tickets", wish(tenant)), 404, "event_not_found")


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [(Scope.TICKETS_READ, "GET"), (Scope.TICKETS_WRITE, "POST"), (Scope.CARDS_WRITE, ""), (Scope.TICKETS_ACTIVATE, "")],
)
async def test_scopes(tenant: Tenant, api: Api, scope: Scope, allowed: str) -> None:
    async with api.client((await tenant.key(scope)).text) as shop:
        answers = {"GET": await shop.get("/tickets"), "POST": await shop.post("/tickets", json=wish(tenant))}
    assert {method for method, answer in answers.items() if answer.status_code != 403} == {allowed} - {""}


SOLD = "SELECT quantity_sold FROM ticket_category WHERE organization_id = $1 AND id = $2"
