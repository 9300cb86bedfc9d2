"""/webhooks: who may, what is kept, what is refused, and that a secret is told once."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.domain import webhooks
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.webhooks.endpoints import MOST
from tests import make
from tests.api.conftest import Door, assert_error, request_id, scan_body
from tests.api.subscribing import TYPES, URL, changes_of, create
from tests.make import House

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


async def test_a_secret_is_told_once_and_kept_sealed(client: httpx2.AsyncClient, house: House) -> None:
    made = await create(client)
    answers = [
        await client.get("/webhooks"),
        await client.get(f"/webhooks/{made['id']}"),
        await client.patch(f"/webhooks/{made['id']}", json={"status": "paused"}),
        await client.get(f"/webhooks/{made['id']}/deliveries"),
    ]
    assert not [answer for answer in answers if "secret" in answer.text.replace("a-secret-of-theirs", "")]
    async with house.db.reading() as tx:
        row = (await tx.rows("SELECT * FROM webhook_endpoint WHERE organization_id = $1", house.id))[0]
    assert made["secret"].encode() not in row["sealed_secret"]
    context = webhooks.secret_context(house.id, UUID(made["id"]))
    assert make.VAULT.open(row["sealed_secret"], context).decode() == made["secret"]


async def test_deleting_forgets_the_secrets(client: httpx2.AsyncClient, house: House) -> None:
    made = await create(client)
    await client.post(f"/webhooks/{made['id']}/rotate-secret")
    assert (await client.delete(f"/webhooks/{made['id']}")).status_code == 204
    async with house.db.reading() as tx:
        row = (await tx.rows("SELECT * FROM webhook_endpoint WHERE organization_id = $1", house.id))[0]
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


async def test_who_may(door: Door, client: httpx2.AsyncClient, house: House) -> None:
    """`webhooks:read` reads, `admin` does everything, and no other scope helps."""
    made = await create(client)
    reader = await house.key(Scope.WEBHOOKS_READ)
    others = await house.key(Scope.EVENTS_READ, Scope.CARDS_VERIFY, Scope.TICKETS_ACTIVATE)
    async with door.client(reader.text) as reading, door.client(others.text) as other:
        for method, path in (*CHANGING, *READING):
            url = path.replace("{id}", made["id"])
            assert_error(await other.request(method, url), 403, "insufficient_scope")
            answer = await reading.request(method, url)
            assert answer.status_code == (200 if method == "GET" else 403)
            if method == "GET":
                assert (await client.get(url)).status_code == 200


async def test_another_organization_and_the_other_mode_see_nothing(
    door: Door, client: httpx2.AsyncClient, house: House
) -> None:
    made = await create(client)
    stranger = await (await make.house(house.db)).key()
    sandbox = await house.key(mode=Mode.SANDBOX)
    for key in (stranger, sandbox):
        async with door.client(key.text) as other:
            assert (await other.get("/webhooks")).json()["data"] == []
            for method, path in (*CHANGING, *READING):
                if "{id}" in path:
                    answer = await other.request(method, path.replace("{id}", made["id"]), json={})
                    assert_error(answer, 404, "webhook_not_found")
    assert (await client.get(f"/webhooks/{made['id']}")).json()["data"]["status"] == "active"


async def test_the_sandbox_has_endpoints_of_its_own(door: Door, client: httpx2.AsyncClient, house: House) -> None:
    async with door.client((await house.key(mode=Mode.SANDBOX)).text) as sandbox:
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


async def test_an_organization_has_sixteen_endpoints(door: Door, client: httpx2.AsyncClient, house: House) -> None:
    """Whoever creates at the same moment, whatever the mode."""
    made = [await create(client) for _ in range(MOST - 4)]
    async with door.client((await house.key(mode=Mode.SANDBOX)).text) as sandbox:
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


async def test_what_is_left_out_stays(client: httpx2.AsyncClient, house: House) -> None:
    made = await create(client, description="Box office")
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert (await client.patch(f"/webhooks/{made['id']}", json={})).json() == {"data": shown}
    assert (await client.patch(f"/webhooks/{made['id']}", json={"new": 1, "url": URL})).json() == {"data": shown}
    assert await changes_of(house, made["id"]) == [("created", None, "live https://hooks.example.com")]


async def set_failing(house: House, reason: str | None) -> None:
    """As workers do."""
    async with house.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET failures = 7, failing_since = now(), blocked_until = now() + '1 hour',"
            " status = CASE WHEN $2::text IS NULL THEN 'active' ELSE 'paused' END, paused_reason = $2"
            " WHERE organization_id = $1",
            house.id,
            reason,
        )


async def record(house: House) -> tuple[Any, ...]:
    async with house.db.reading() as tx:
        rows = await tx.rows(
            "SELECT failures, failing_since, blocked_until FROM webhook_endpoint WHERE organization_id = $1", house.id
        )
    return tuple(rows[0])


async def test_pausing_and_resuming(client: httpx2.AsyncClient, house: House) -> None:
    made = await create(client)
    url = f"/webhooks/{made['id']}"
    paused = (await client.patch(url, json={"status": "paused"})).json()["data"]
    assert (paused["status"], paused["paused_reason"]) == ("paused", "requested")
    await set_failing(house, "gone")
    kept = (await client.patch(url, json={"status": "paused"})).json()["data"]
    assert (kept["status"], kept["paused_reason"]) == ("paused", "gone"), "it stays paused for the reason that it has"
    resumed = (await client.patch(url, json={"status": "active"})).json()["data"]
    assert (resumed["status"], resumed["paused_reason"], resumed["failing_since"]) == ("active", None, None)
    assert await record(house) == (0, None, None)
    assert_error(await client.patch(url, json={"status": "gone"}), 400, "invalid_request", param="status")
    assert_error(await client.patch(url, json={"status": None}), 400, "invalid_request", param="status")
    assert [line[0] for line in await changes_of(house, made["id"])] == ["created", "paused", "resumed"]


async def test_another_address_starts_with_a_clean_record(client: httpx2.AsyncClient, house: House) -> None:
    made = await create(client)
    await set_failing(house, None)
    await client.patch(f"/webhooks/{made['id']}", json={"description": "the same", "url": URL})
    assert (await record(house))[0] == 7
    await client.patch(f"/webhooks/{made['id']}", json={"url": "https://example.org"})
    assert await record(house) == (0, None, None)


async def test_changes_are_noted_without_what_may_be_secret(client: httpx2.AsyncClient, house: House) -> None:
    made = await create(client, description="call me")
    url = f"/webhooks/{made['id']}"
    await client.patch(url, json={"url": "https://example.org:8443/a-secret-path", "types": ["scan.denied"]})
    await client.patch(url, json={"description": "call me later"})
    await client.post(f"{url}/rotate-secret")
    await client.delete(url)
    noted = await changes_of(house, made["id"])
    assert noted == [
        ("created", None, "live https://hooks.example.com"),
        ("url changed", "https://hooks.example.com", "https://example.org:8443"),
        ("types changed", "ticket.activated ticket.cancelled", "scan.denied"),
        ("description changed", None, None),
        ("secret issued", None, None),
        ("deleted", "live https://example.org:8443", None),
    ]
    async with house.db.reading() as tx:
        actors = await tx.rows("SELECT DISTINCT actor FROM change WHERE subject_id = $1", UUID(made["id"]))
        key_id = await tx.value("SELECT id FROM api_key WHERE organization_id = $1", house.id)
    assert [row["actor"] for row in actors] == [f"key {key_id}"]


async def test_a_change_has_its_audit_row_with_its_answer(client: httpx2.AsyncClient, house: House) -> None:
    made = await create(client)
    url = f"/webhooks/{made['id']}"
    answers = {
        ("POST", "/webhooks", None): await client.post("/webhooks", json={"url": URL, "types": TYPES}),
        ("PATCH", "/webhooks/{id}", None): await client.patch(url, json={"description": "x"}),
        ("POST", "/webhooks/{id}/test", None): await client.post(f"{url}/test"),
        ("POST", "/webhooks/{id}/rotate-secret", None): await client.post(f"{url}/rotate-secret"),
        ("POST", "/webhooks/{id}/replay", None): await client.post(f"{url}/replay"),
        ("PATCH", "/webhooks/{id}", "invalid_request"): await client.patch(url, json={"url": "x"}),
        ("POST", "/webhooks/{id}/replay", "delivery_not_found"): await client.post(
            f"{url}/replay", json={"delivery_id": str(uuid4())}
        ),
        ("DELETE", "/webhooks/{id}", None): await client.delete(url),
        ("DELETE", "/webhooks/{id}", "webhook_not_found"): await client.delete(url),
    }
    async with house.db.reading() as tx:
        rows = {row["id"]: row for row in await tx.rows("SELECT * FROM audit WHERE organization_id = $1", house.id)}
    for (method, path, code), answer in answers.items():
        row = rows[request_id(answer)]
        assert (row["method"], row["path"], row["code"]) == (method, path, code)
        assert row["status"] == answer.status_code
        assert 0 < row["duration_us"] < 60_000_000
    assert len(rows) == len(answers) + 1


async def test_a_change_and_its_audit_row_are_there_together_or_not_at_all(
    client: httpx2.AsyncClient, house: House
) -> None:
    """If the row cannot be written, nothing was changed."""
    async with house.db.transaction() as tx:
        await tx.run(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN IF new.status = 201 THEN RAISE EXCEPTION 'no room'; END IF; RETURN new; END $$"
        )
        await tx.run("CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()")
    try:
        assert_error(await client.post("/webhooks", json={"url": URL, "types": TYPES}), 500, "internal_error")
    finally:
        async with house.db.transaction() as tx:
            await tx.run("DROP FUNCTION refuse CASCADE")
    assert (await client.get("/webhooks")).json()["data"] == []
    assert (await client.post("/webhooks", json={"url": URL, "types": TYPES})).status_code == 201


async def test_no_gate_waits_for_whoever_changes_an_endpoint(client: httpx2.AsyncClient, house: House) -> None:
    made, card = await create(client), await house.card()
    async with house.db.transaction() as tx:
        await webhooks.create_endpoint(
            tx, house.id, Mode.LIVE, make.VAULT, url=URL, types=TYPES, description=None, allow_private=False,
            by=make.BY, at=make.now(),
        )  # fmt: skip
        await webhooks.delete_endpoint(tx, house.id, Mode.LIVE, UUID(made["id"]), by=make.BY, at=make.now())
        answer = await asyncio.wait_for(client.post("/scan", json=scan_body(house, card.number)), 1)
        assert answer.status_code == 200
