"""/cards: one person has one card, editors do not lose each other's changes, and tokens are signed for good cards."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.base.clock import rfc3339
from gatepass.domain import cards
from gatepass.domain.cards import HolderDetails
from gatepass.domain.keys import Mode, Scope
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.factory import Tenant

ANN = {"name": "Ann", "email": "ann@example.org", "locale": "en-GB"}


async def made(client: httpx2.AsyncClient, status: int = 201, **body: Any) -> dict[str, Any]:
    answer = await client.post("/cards", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


async def test_a_person_keeps_their_card(client: httpx2.AsyncClient) -> None:
    card = await made(client, holder=ANN)
    assert card["holder"] == {**ANN, "companion": False}
    assert (card["status"], card["external_id"]) == ("active", None)
    linked = await made(client, 200, holder={"email": "ANN@Example.org"}, external_id="M-1")
    assert (linked["id"], linked["external_id"]) == (card["id"], "M-1")
    assert await made(client, 200, holder={"email": "ann@example.org"}, external_id="M-1") == linked
    taken = await client.post("/cards", json={"holder": {"name": "Bob"}, "external_id": "M-1"})
    assert_error(taken, 409, "external_id_taken", param="external_id")
    another = await client.post("/cards", json={"holder": ANN, "external_id": "M-2"})
    assert_error(another, 409, "holder_has_card", param="holder")
    await client.post(f"/cards/{card['id']}/suspend", json={"reason": "odd"})
    assert_error(await client.post("/cards", json={"holder": ANN}), 422, "card_suspended", param="holder")
    await client.post(f"/cards/{card['id']}/revoke", json={"reason": "odd"})
    assert (await made(client, holder=ANN))["id"] != card["id"]


async def test_another_address_is_another_person(client: httpx2.AsyncClient) -> None:
    for one, other in (("ß@x.example", "ss@x.example"), ("ann@faß.example", "ann@fass.example")):
        card = await made(client, holder={"email": one})
        assert (await made(client, holder={"email": other}))["id"] != card["id"]
    same = await made(client, 200, holder={"email": "Ann@XN--FA-HIA.example"})
    for email in ("ann@faß.example", "ANN@FAẞ.example"):
        found = (await client.get("/cards", params={"email": email})).json()["data"]
        assert [one["id"] for one in found] == [same["id"]]


async def test_what_a_change_leaves_out_stays_as_another_one_made_it(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    """The first change has not committed when the second comes."""
    card = await made(client, holder=ANN)
    async with tenant.db.transaction() as first:
        held = await cards.lock_held(first, tenant.id, UUID(card["id"]))
        await cards.correct_holder(
            first, tenant.id, held.id, HolderDetails(held.name, held.email, "fr"), by="test", at=factory.now()
        )
        pid = await first.value("SELECT pg_backend_pid()")
        second = asyncio.create_task(client.patch(f"/cards/{card['id']}", json={"holder": {"name": "Anna"}}))
        async with tenant.db.autocommit() as tx:
            while not await tx.value(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE $1 = ANY (pg_blocking_pids(pid)))", pid
            ):
                assert not second.done()
    answer = await second
    assert answer.json()["data"]["holder"] == {**ANN, "name": "Anna", "locale": "fr", "companion": False}


async def test_a_number_of_ones_own(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    free = (await tenant.card()).number
    stranger = await factory.tenant(tenant.db)
    number = (await stranger.card()).number
    assert (await made(client, number=number.lower().replace(" ", "")))["number"] == number
    assert_error(await client.post("/cards", json={"number": number}), 409, "card_number_taken", param="number")
    assert_error(await client.post("/cards", json={"number": free}), 409, "card_number_taken", param="number")
    mistyped = free[:-1] + str((int(free[-1]) + 1) % 10)
    for text in (mistyped, "SVC abcd efgh ijkl", "x"):
        assert_error(await client.post("/cards", json={"number": text}), 400, "invalid_request", param="number")


async def test_cards_are_found(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await made(client, holder=ANN, external_id="M-1")
    others = [await made(client) for _ in range(3)]

    async def found(**params: str) -> list[str]:
        return [one["id"] for one in (await client.get("/cards", params=params)).json()["data"]]

    for params in ({"number": card["number"]}, {"email": "ANN@example.ORG"}, {"external_id": "M-1"}):
        assert await found(**params) == [card["id"]]
        assert await found(**params | {"email": "bob@example.org"}) == []
    assert await found() == [one["id"] for one in reversed([card, *others])]
    first = (await client.get("/cards", params={"limit": "3"})).json()
    assert await found(limit="3", cursor=first["next_cursor"]) == [card["id"]]
    for name in ("number", "email", "external_id"):
        assert_error(await client.get("/cards", params={name: "\x00"}), 400, "invalid_request", param=name)


async def test_of_two_editors_one_is_told(client: httpx2.AsyncClient) -> None:
    card = await made(client, holder=ANN)
    tag = (await client.get(f"/cards/{card['id']}")).headers["etag"]
    answers = await asyncio.gather(
        *(
            client.patch(f"/cards/{card['id']}", json={"holder": {"name": name}}, headers={"If-Match": tag})
            for name in ("Anna", "Anne")
        )
    )
    refused, done = sorted(answers, key=lambda answer: -answer.status_code)
    assert_error(refused, 412, "changed_meanwhile")
    assert done.status_code == 200
    now = await client.get(f"/cards/{card['id']}")
    assert (now.json(), now.headers["etag"]) == (done.json(), done.headers["etag"])
    assert now.json()["data"]["updated_at"] > card["updated_at"]
    assert (await client.patch(f"/cards/{card['id']}", json={}, headers={"If-Match": tag})).status_code == 412
    assert (await client.patch(f"/cards/{card['id']}", json={}, headers={"If-Match": "*"})).status_code == 200


async def test_a_holder_is_corrected_and_erased(client: httpx2.AsyncClient) -> None:
    card = await made(client, holder=ANN)
    place = f"/cards/{card['id']}"
    moved = await client.patch(place, json={"holder": {"email": "anna@example.org", "locale": None}})
    assert moved.json()["data"]["holder"] == {
        "name": "Ann", "email": "anna@example.org", "locale": None, "companion": False,
    }  # fmt: skip
    other = await made(client, holder=ANN)
    assert other["id"] != card["id"]
    taken = await client.patch(place, json={"holder": {"email": "ann@example.org"}})
    assert_error(taken, 409, "holder_has_card", param="holder")
    assert (await client.get(place)).json()["data"]["holder"]["email"] == "anna@example.org"
    assert (await client.patch(place, json={"holder": None})).json()["data"]["holder"] is None
    assert (await made(client, holder={"email": "anna@example.org"}))["id"] != card["id"]
    for holder in ({"email": "nobody"}, {"name": ""}, {"email": "\u0130" * 300 + "@x"}, {"locale": "no such"}, 17):
        assert_error(await client.patch(place, json={"holder": holder}), 400, "invalid_request", param="holder")


async def test_a_card_is_suspended_resumed_and_replaced(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await made(client, holder=ANN, external_id="M-1")
    place = f"/cards/{card['id']}"
    assert_error(await client.post(f"{place}/suspend", json={}), 400, "invalid_request", param="reason")
    assert (await client.post(f"{place}/suspend", json={"reason": "odd"})).json()["data"]["status"] == "suspended"
    assert (await client.post(f"{place}/resume", json={"reason": "fine"})).json()["data"]["status"] == "active"
    first = await client.post(f"{place}/replace", json={"reason": "lost"}, headers={"Idempotency-Key": "k"})
    new = first.json()["data"]
    assert (first.status_code, new["holder"]["email"], new["external_id"]) == (201, ANN["email"], "M-1")
    again = await client.post(f"{place}/replace", json={"reason": "lost"}, headers={"Idempotency-Key": "k"})
    assert again.json() == first.json()
    assert (await client.get(place)).json()["data"]["status"] == "revoked"
    assert_error(await client.post(f"{place}/resume", json={"reason": "x"}), 409, "not_allowed")
    assert (await made(client, 200, holder=ANN))["id"] == new["id"]


async def test_a_token_opens_a_gate(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    place = f"/cards/{card.id}/token"
    answer = await client.post(place)
    data = answer.json()["data"]
    left = datetime.fromisoformat(data["expires_at"]) - factory.now()
    assert timedelta(hours=23, minutes=58) < left <= timedelta(hours=24)
    verified = await client.get("/card/verify", params={"token": data["token"]})
    assert verified.json()["valid"]
    scan = scan_body(tenant) | {"token": data["token"]}
    assert (await client.post("/scan", json=scan)).status_code == 200
    for days in (-1, 401):
        body = {"expires_at": rfc3339(factory.now() + timedelta(days=days))}
        assert_error(await client.post(place, json=body), 400, "invalid_request", param="expires_at")
    body = {"expires_at": rfc3339(factory.now() + timedelta(days=399))}
    assert (await client.post(place, json=body)).status_code == 200
    await client.post(f"/cards/{card.id}/suspend", json={"reason": "odd"})
    assert_error(await client.post(place), 422, "card_suspended")


async def test_tokens_for_many_cards(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card, suspended = await tenant.card(), await tenant.card()
    await client.post(f"/cards/{suspended.id}/suspend", json={"reason": "odd"})
    body = {"cards": [str(card.id), str(uuid4()), "x", str(suspended.id), str(card.id)]}
    first = await client.post("/card-tokens", json=body, headers={"Idempotency-Key": "k"})
    results = first.json()["data"]
    assert [result["status"] for result in results] == [200, 404, 404, 422, 200]
    assert (await client.get("/card/verify", params={"token": results[0]["data"]["token"]})).json()["valid"]
    async with tenant.db.autocommit() as tx:
        kept = await tx.value("SELECT kept::text FROM idempotency WHERE organization_id = $1", tenant.id)
    assert "SVC1" not in kept
    await client.post(f"/cards/{card.id}/revoke", json={"reason": "odd"})
    again = await client.post("/card-tokens", json=body, headers={"Idempotency-Key": "k"})
    assert [result["status"] for result in again.json()["data"]] == [422, 404, 404, 422, 422]


async def test_cards_of_others_and_of_the_sandbox(client: httpx2.AsyncClient, tenant: Tenant, api: Api) -> None:
    card = await made(client, holder=ANN, external_id="M-1")
    stranger = await factory.tenant(tenant.db)
    keys = {Mode.LIVE: await stranger.key(), Mode.SANDBOX: await tenant.key(mode=Mode.SANDBOX)}
    for key in keys.values():
        async with api.client(key.text) as other:
            assert_error(await other.get(f"/cards/{card['id']}"), 404, "card_not_found")
            for params in ({"number": card["number"]}, {"email": ANN["email"]}, {"external_id": "M-1"}):
                assert (await other.get("/cards", params=params)).json()["data"] == []
            assert (await other.patch(f"/cards/{card['id']}", json={"holder": None})).status_code == 404
            assert (await other.post(f"/cards/{card['id']}/token")).status_code == 404
            assert (await other.post("/cards", json={})).status_code == 201
            for act in ("suspend", "resume", "revoke", "replace"):
                answer = await other.post(f"/cards/{card['id']}/{act}", json={"reason": "x"})
                assert_error(answer, 404, "card_not_found")
    assert (await client.get(f"/cards/{card['id']}")).json()["data"] == card


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [(Scope.CARDS_READ, "GET"), (Scope.CARDS_WRITE, "POST"), (Scope.TICKETS_WRITE, ""), (Scope.CARDS_VERIFY, "")],
)
async def test_scopes(tenant: Tenant, api: Api, scope: Scope, allowed: str) -> None:
    async with api.client((await tenant.key(scope)).text) as shop:
        answers = {"GET": await shop.get("/cards"), "POST": await shop.post("/cards", json={})}
    assert {method for method, answer in answers.items() if answer.status_code != 403} == {allowed} - {""}
