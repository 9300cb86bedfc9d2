"""/webhooks: scopes, stored fields, refusals, and a secret that is returned once."""

import asyncio
import json
from typing import Any
from uuid import UUID

import httpx2
import pytest

from gatepass.domain import webhooks
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.webhooks.endpoints import MOST
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.api.subscriptions import TYPES, URL, create
from tests.factory import Tenant

FIELDS = {
    *("id", "mode", "url", "types", "description", "status", "paused_reason", "failing_since", "rotation", "created_at")
}


async def test_an_endpoint_is_made_read_changed_and_deleted(client: httpx2.AsyncClient) -> None:
    made = await create(client, description="Box office")
    assert made.keys() == FIELDS | {"secret"}
    assert made["secret"].startswith("whsec_")
    assert (made["url"], made["types"], made["description"]) == (URL, TYPES, "Box office")
    assert (made["status"], made["paused_reason"], made["rotation"], made["mode"]) == ("active", None, None, "live")
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert (await client.get(f"/webhooks/{made['id']}")).json() == {"data": shown}
    assert (await client.get("/webhooks")).json() == {"data": [shown], "has_more": False, "next_cursor": None}
    changed = await client.patch(f"/webhooks/{made['id']}", json={"url": "https://example.org/", "description": None})
    assert changed.json() == {"data": {**shown, "url": "https://example.org/", "description": None}}
    gone = await client.delete(f"/webhooks/{made['id']}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert_error(await client.get(f"/webhooks/{made['id']}"), 404, "webhook_not_found")
    assert_error(await client.delete(f"/webhooks/{made['id']}"), 404, "webhook_not_found")
    assert (await client.get("/webhooks")).json()["data"] == []


async def test_a_secret_is_told_once_and_kept_sealed(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await create(client)
    answers = [
        await client.get("/webhooks"),
        await client.get(f"/webhooks/{made['id']}"),
        await client.patch(f"/webhooks/{made['id']}", json={"status": "paused"}),
        await client.get(f"/webhooks/{made['id']}/deliveries"),
    ]
    assert not [answer for answer in answers if "secret" in answer.text.replace("a-secret-of-theirs", "")]
    async with tenant.db.autocommit() as tx:
        row = (await tx.rows("SELECT * FROM webhook_endpoint WHERE organization_id = $1", tenant.id))[0]
    assert made["secret"].encode() not in row["sealed_secret"]
    context = webhooks.secret_context(tenant.id, UUID(made["id"]))
    assert factory.VAULT.open(row["sealed_secret"], context).decode() == made["secret"]


async def test_deleting_forgets_the_secrets(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await create(client)
    await client.post(f"/webhooks/{made['id']}/rotate-secret")
    assert (await client.delete(f"/webhooks/{made['id']}")).status_code == 204
    async with tenant.db.autocommit() as tx:
        row = (await tx.rows("SELECT * FROM webhook_endpoint WHERE organization_id = $1", tenant.id))[0]
    assert (row["sealed_secret"], row["sealed_new_secret"]) == (b"", None)
    assert row["deleted_at"] is not None


CHANGING = (
    ("POST", "/webhooks"),
    ("PATCH", "/webhooks/{id}"),
    ("DELETE", "/webhooks/{id}"),
    ("POST", "/webhooks/{id}/test"),
    ("POST", "/webhooks/{id}/rotate-secret"),
    ("POST", "/webhooks/{id}/replay"),
)
READING = (
    ("GET", "/webhooks"),
    ("GET", "/webhooks/{id}"),
    ("GET", "/webhooks/{id}/deliveries"),
    ("GET", "/webhooks/{id}/replay"),
    ("GET", "/webhook-events"),
)


async def test_who_may(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """`webhooks:read` may read, `admin` may do everything, no other scope may do anything."""
    made = await create(client)
    reader = await tenant.key(Scope.WEBHOOKS_READ)
    others = await tenant.key(Scope.EVENTS_READ, Scope.CARDS_VERIFY, Scope.TICKETS_ACTIVATE)
    async with api.client(reader.text) as reading, api.client(others.text) as other:
        for method, path in (*CHANGING, *READING):
            url = path.replace("{id}", made["id"])
            assert_error(await other.request(method, url), 403, "insufficient_scope")
            answer = await reading.request(method, url)
            assert answer.status_code == (200 if method == "GET" else 403)
            if method == "GET":
                assert (await client.get(url)).status_code == 200


async def test_another_organization_and_the_other_mode_see_nothing(
    api: Api, client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    made = await create(client)
    stranger = await (await factory.tenant(tenant.db)).key()
    sandbox = await tenant.key(mode=Mode.SANDBOX)
    for key in (stranger, sandbox):
        async with api.client(key.text) as other:
            assert (await other.get("/webhooks")).json()["data"] == []
            for method, path in (*CHANGING, *READING):
                if "{id}" in path:
                    answer = await other.request(method, path.replace("{id}", made["id"]), json={})
                    assert_error(answer, 404, "webhook_not_found")
    assert (await client.get(f"/webhooks/{made['id']}")).json()["data"]["status"] == "active"


async def test_the_sandbox_has_endpoints_of_its_own(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as sandbox:
        made = await create(sandbox)
        assert made["mode"] == "sandbox"
        assert [one["id"] for one in (await sandbox.get("/webhooks")).json()["data"]] == [made["id"]]
    assert (await client.get("/webhooks")).json()["data"] == []


@pytest.mark.parametrize("id", ["x", "0", "evt_1", "{00000000-0000-0000-0000-0000000000aa}", "aa" * 16])
async def test_an_id_that_is_none_is_not_found(client: httpx2.AsyncClient, id: str) -> None:
    for method, path in (*CHANGING, *READING):
        if "{id}" in path:
            assert_error(await client.request(method, path.replace("{id}", id), json={}), 404, "webhook_not_found")


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "url"),
    "no types": ({"url": URL}, "types"),
    "no url": ({"types": TYPES}, "url"),
    "http": ({"url": "http://example.com", "types": TYPES}, "url"),
    "another scheme": ({"url": "ftp://example.com", "types": TYPES}, "url"),
    "a user": ({"url": "https://a:b@example.com", "types": TYPES}, "url"),
    "not a url": ({"url": "not a url", "types": TYPES}, "url"),
    "a private address": ({"url": "https://10.0.0.1/", "types": TYPES}, "url"),
    "a private name": ({"url": "https://localhost/", "types": TYPES}, "url"),
    "another port": ({"url": "https://example.com:8080/", "types": TYPES}, "url"),
    "a long url": ({"url": "https://example.com/" + "a" * 2000, "types": TYPES}, "url"),
    "an empty url": ({"url": "", "types": TYPES}, "url"),
    "a null url": ({"url": None, "types": TYPES}, "url"),
    "empty types": ({"url": URL, "types": []}, "types"),
    "an unknown type": ({"url": URL, "types": ["ticket.activated", "ticket.sold"]}, "types"),
    "a ping": ({"url": URL, "types": ["webhook.ping"]}, "types"),
    "a type that is none": ({"url": URL, "types": [1]}, "types"),
    "types that are none": ({"url": URL, "types": "ticket.activated"}, "types"),
    "too many types": ({"url": URL, "types": ["ticket.activated"] * 33}, "types"),
    "a long description": ({"url": URL, "types": TYPES, "description": "a" * 501}, "description"),
    "a number as description": ({"url": URL, "types": TYPES, "description": 1}, "description"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_endpoint(client: httpx2.AsyncClient, name: str) -> None:
    body, param = BAD[name]
    assert_error(await client.post("/webhooks", json=body), 400, "invalid_request", param=param)
    if body and body.get(param) is not None:
        made = await create(client)
        answer = await client.patch(f"/webhooks/{made['id']}", json={param: body[param]})
        assert_error(answer, 400, "invalid_request", param=param)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"[" * 10_000, b"\xff", b'{"url": NaN}'], ids=repr)
async def test_a_bad_body(client: httpx2.AsyncClient, raw: bytes) -> None:
    made = await create(client)
    assert_error(await client.post("/webhooks", content=raw), 400, "invalid_request")
    assert_error(await client.patch(f"/webhooks/{made['id']}", content=raw), 400, "invalid_request")


async def test_a_body_that_is_too_large(client: httpx2.AsyncClient) -> None:
    made = await create(client)
    for method, path in CHANGING:
        if method == "DELETE" or path.endswith("/test"):
            continue  # they read no body
        answer = await client.request(method, path.replace("{id}", made["id"]), content=b" " * 16_385)
        assert_error(answer, 413, "request_too_large")


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\udfff"])
@pytest.mark.parametrize("field", ["url", "types", "description"])
async def test_what_postgres_cannot_store(client: httpx2.AsyncClient, field: str, escape: str) -> None:
    raw = json.dumps({"url": URL, "types": TYPES, field: ["HERE"] if field == "types" else "HERE"})
    answer = await client.post("/webhooks", content=raw.replace("HERE", f"a{escape}b"))
    assert_error(answer, 400, "invalid_request", param=field if escape == "\\u0000" else None)


async def test_types_are_kept_once_and_in_their_order(client: httpx2.AsyncClient) -> None:
    made = await create(client, types=["scan.denied", "ticket.activated", "scan.denied"])
    assert made["types"] == ["scan.denied", "ticket.activated"]
    changed = await client.patch(f"/webhooks/{made['id']}", json={"types": ["event.cancelled", "event.cancelled"]})
    assert changed.json()["data"]["types"] == ["event.cancelled"]


async def test_an_organization_has_sixteen_endpoints(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """Also with concurrent calls, and for both modes together."""
    made = [await create(client) for _ in range(MOST - 4)]
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as sandbox:
        body = {"url": URL, "types": TYPES}
        racing = [(client if n % 2 else sandbox).post("/webhooks", json=body) for n in range(12)]
        answers = await asyncio.gather(*racing)
        assert sorted(answer.status_code for answer in answers) == [201] * 4 + [409] * 8
        for answer in answers:
            if answer.status_code == 409:
                assert_error(answer, 409, "too_many_endpoints")
        await client.delete(f"/webhooks/{made[0]['id']}")
        await create(sandbox)


async def test_a_list_is_paged_in_the_order_of_creation(client: httpx2.AsyncClient) -> None:
    made = [(await create(client))["id"] for _ in range(5)]
    first = await client.get("/webhooks", params={"limit": 2})
    assert [one["id"] for one in first.json()["data"]] == made[:2]
    assert first.json()["has_more"] is True
    assert f"limit=2&cursor={first.json()['next_cursor']}" in first.headers["Link"]
    second = await client.get("/webhooks", params={"limit": 2, "cursor": first.json()["next_cursor"]})
    last = await client.get("/webhooks", params={"limit": 2, "cursor": second.json()["next_cursor"]})
    assert [one["id"] for page in (second, last) for one in page.json()["data"]] == made[2:]
    assert (last.json()["has_more"], last.json()["next_cursor"], "Link" in last.headers) == (False, None, False)
    assert_error(await client.get("/webhooks", params={"cursor": "x"}), 400, "invalid_request", param="cursor")
