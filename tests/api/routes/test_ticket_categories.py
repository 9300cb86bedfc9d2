"""Ticket categories by API: prices as they were sent, a version each, and never fewer places than are issued."""

import asyncio
from collections.abc import Awaitable, Sequence

import httpx2
import pytest

from tests.api.conftest import assert_error
from tests.api.routes.test_event_changes import STANDING, category, draft
from tests.factory import Tenant


async def test_categories_never_have_fewer_places_than_are_issued(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    await tenant.card()
    path = f"/ticket-categories/{tenant.category_id}"
    assert_error(await client.patch(path, json={"quantity_total": 0}), 400, "invalid_request", param="quantity_total")
    assert_error(await client.patch(path, json={"currency": "USD"}), 400, "invalid_request", param="currency")
    assert_error(await client.delete(path), 409, "not_allowed")
    answer = await client.patch(path, json={"quantity_total": 1, "price": 30, "tier": "vip"})
    shown = answer.json()["data"]
    assert (shown["quantity_total"], shown["quantity_sold"], shown["price"], shown["tier"]) == (1, 1, 30, "vip")


async def test_a_category_has_a_version_too(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    event_id = (await draft(client))["id"]
    answer = await client.post(f"/events/{event_id}/ticket-categories", json=STANDING)
    path, first = f"/ticket-categories/{answer.json()['data']['id']}", answer.headers["ETag"]
    second = await client.patch(path, json={"name": "Seats"}, headers={"If-Match": first})
    assert second.headers["ETag"] != first
    assert_error(await client.patch(path, json={"name": "x"}, headers={"If-Match": first}), 412, "changed_meanwhile")
    assert_error(await client.delete(path, headers={"If-Match": first}), 412, "changed_meanwhile")
    assert (await client.delete(path, headers={"If-Match": second.headers["ETag"]})).status_code == 204
    assert_error(await client.patch(path, json={"name": "x"}), 404, "category_not_found")
    assert_error(await client.delete(path), 404, "category_not_found")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""), ("name", "x" * 101), ("name", None), ("price", -1), ("price", "25"), ("price", 25.501),
        ("price", 1e13), ("price", None), ("currency", "eur"), ("currency", "XXX"), ("quantity_total", -1),
        ("quantity_total", 1.5), ("quantity_total", 10_000_001), ("tier", "VIP"), ("tier", ""),
    ],
    ids=str,
)  # fmt: skip
async def test_a_bad_field_of_a_category_is_named(
    client: httpx2.AsyncClient, tenant: Tenant, field: str, value: object
) -> None:
    body = {name: given for name, given in {**STANDING, field: value}.items() if given is not None}
    answer = await client.post(f"/events/{tenant.event_id}/ticket-categories", json=body)
    assert_error(answer, 400, "invalid_request", param=field)


@pytest.mark.parametrize(("most", "currency"), [(10**10, "EUR"), (10**12, "JPY"), (10**9, "KWD")])
async def test_a_price_is_bounded_in_minor_units(
    client: httpx2.AsyncClient, tenant: Tenant, most: int, currency: str
) -> None:
    shown = await category(client, str(tenant.event_id), price=most, currency=currency)
    assert shown["price"] == most
    answer = await client.patch(f"/ticket-categories/{shown['id']}", json={"price": most + 1})
    assert_error(answer, 400, "invalid_request", param="price")


async def test_a_whole_number_of_places_may_have_a_point(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    shown = await category(client, str(tenant.event_id), quantity_total=7.0)
    changed = await client.patch(f"/ticket-categories/{shown['id']}", json={"quantity_total": 8.0})
    assert (shown["quantity_total"], changed.json()["data"]["quantity_total"]) == (7, 8)


@pytest.mark.parametrize("price", [0, 0.1, 19.99, 25.5, 999_999_999.99, 1])
async def test_a_price_comes_back_as_it_was_sent(client: httpx2.AsyncClient, tenant: Tenant, price: float) -> None:
    assert (await category(client, str(tenant.event_id), price=price))["price"] == price


@pytest.mark.parametrize("round", range(3))
async def test_a_category_is_removed_once_whatever_else_happens_to_it(
    client: httpx2.AsyncClient, tenant: Tenant, round: int
) -> None:
    """Removed by three, changed and sold at once: one order of these is as if they came one after the other."""
    event_id = str(tenant.event_id)
    made = [(await category(client, event_id))["id"] for _ in range(4)]
    numbers = [(await tenant.card(with_ticket=False)).number for _ in made]

    def calls(id: str, number: str) -> Sequence[Awaitable[httpx2.Response]]:
        sold = {"event_id": event_id, "category_id": id, "card_number": number}
        removed = [client.delete(f"/ticket-categories/{id}") for _ in range(3)]
        changed = client.patch(f"/ticket-categories/{id}", json={"name": "Seats", "quantity_total": 7})
        ordered = [*removed, changed, client.post("/tickets", json=sold)]
        return ordered[round:] + ordered[:round]

    together = [call for id, number in zip(made, numbers, strict=True) for call in calls(id, number)]
    answers = await asyncio.gather(*together)
    for part in range(len(made)):
        of_one = answers[part * 5 : part * 5 + 5]
        of_one = of_one[5 - round :] + of_one[: 5 - round]
        removed, changed, sold = [one.status_code for one in of_one[:3]], of_one[3], of_one[4]
        if sold.status_code == 201:
            assert removed == [409, 409, 409]
            assert (changed.status_code, sold.json()["data"]["category_id"]) == (200, made[part])
        else:
            # A sale that was waiting when it was removed finds no places.
            assert sold.json()["code"] in ("category_not_found", "sold_out")
            assert sorted(removed) == [204, 404, 404]
            assert changed.status_code in (200, 404)


async def test_a_draft_and_its_category_are_removed_at_once(client: httpx2.AsyncClient) -> None:
    drafts = [(await draft(client))["id"] for _ in range(4)]
    seats = [(await category(client, id))["id"] for id in drafts]
    answers = await asyncio.gather(
        *(client.delete(f"/events/{id}") for id in drafts), *(client.delete(f"/ticket-categories/{id}") for id in seats)
    )
    assert [one.status_code for one in answers[:4]] == [204] * 4
    assert {one.status_code for one in answers[4:]} <= {204, 404}
