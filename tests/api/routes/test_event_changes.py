"""Events by API: made, changed, published, cancelled, ended and deleted, with the rules of the studio."""

from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.domain import audit_log, events, tickets
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.sandbox import CATALOGUE_ENTRY, EVENT_ID
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.api.test_idempotency import assert_replay
from tests.factory import Tenant

NEW: dict[str, Any] = {
    "title": "Autumn Closing",
    "starts_at": "2031-10-26T20:00:00+01:00",
    "ends_at": "2031-10-26T23:30:00+01:00",
    "time_zone": "Europe/Brussels",
    "venue": "Hall 1",
    "city": "Brussels",
    "country": "BE",
}
STANDING: dict[str, Any] = {"name": "Standing", "price": 25.5, "currency": "EUR", "quantity_total": 100}


async def draft(client: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/events", json={**NEW, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def category(client: httpx2.AsyncClient, event_id: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post(f"/events/{event_id}/ticket-categories", json={**STANDING, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def test_a_draft_is_made_and_read_back(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    answer = await client.post("/events", json=NEW)
    made = answer.json()["data"]
    assert answer.status_code == 201
    assert {name: made[name] for name in ("title", "venue", "city", "country", "time_zone")} == {
        name: NEW[name] for name in ("title", "venue", "city", "country", "time_zone")
    }
    assert (made["starts_at"], made["status"], made["ticket_categories"]) == ("2031-10-26T19:00:00Z", "draft", [])
    read = await client.get(f"/events/{made['id']}")
    assert read.json() == answer.json()
    assert read.headers["ETag"] == answer.headers["ETag"]
    async with tenant.db.autocommit() as tx:
        (change,) = await audit_log.of_subject(tx, tenant.id, UUID(made["id"]))
    assert (change.action, change.actor.split()[0]) == ("created", "key")


async def test_an_event_goes_its_whole_way(client: httpx2.AsyncClient) -> None:
    made = await draft(client)
    path = f"/events/{made['id']}"
    refused = await client.post(f"{path}/publish")
    assert_error(refused, 409, "not_allowed")
    assert "categor" in refused.json()["error"]
    await category(client, made["id"])
    assert (await client.post(f"{path}/publish")).json()["data"]["status"] == "published"
    listed = (await client.get("/events")).json()["data"]
    assert made["id"] in [one["id"] for one in listed]
    assert_error(await client.post(f"{path}/publish"), 409, "not_allowed")
    assert_error(await client.delete(path), 409, "not_allowed")
    assert (await client.post(f"{path}/end")).json()["data"]["status"] == "ended"
    for verb, body in (("cancel", {"reason": "late"}), ("publish", {}), ("end", {})):
        assert_error(await client.post(f"{path}/{verb}", json=body), 409, "not_allowed")
    assert_error(await client.patch(path, json={"title": "x"}), 409, "not_allowed")


async def test_a_cancellation_has_a_reason(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    path = f"/events/{tenant.event_id}/cancel"
    for body in ({}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}, {"reason": "a\u202eb"}):
        assert_error(await client.post(path, json=body), 400, "invalid_request", param="reason")
    answer = await client.post(path, json={"reason": "The headliner is ill."})
    assert answer.json()["data"]["status"] == "cancelled"
    async with tenant.db.autocommit() as tx:
        change = (await audit_log.of_subject(tx, tenant.id, tenant.event_id))[0]
    assert (change.action, change.reason) == ("cancelled", "The headliner is ill.")


async def test_a_change_touches_the_given_fields_alone(client: httpx2.AsyncClient) -> None:
    made = await draft(client, description="Long")
    path = f"/events/{made['id']}"
    changed = (await client.patch(path, json={"venue": "Hall 2", "description": None})).json()["data"]
    assert changed == {**made, "venue": "Hall 2", "description": None, "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    same = await client.patch(path, json={})
    assert (same.status_code, same.json()["data"]) == (200, changed)
    assert_error(await client.patch(path, json={"title": None}), 400, "invalid_request", param="title")
    assert_error(await client.patch(path, json={"ends_at": NEW["starts_at"]}), 400, "invalid_request", param="ends_at")


async def test_an_uploaded_cover_stays_when_it_is_sent_back(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    cover = f"/covers/{uuid4()}.png"
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET cover_url = $3 WHERE organization_id = $1 AND id = $2", tenant.id,
                     tenant.event_id, cover)  # fmt: skip
    path = f"/events/{tenant.event_id}"
    shown = (await client.get(path)).json()["data"]["cover_url"]
    if shown.startswith("https://"):
        assert (await client.patch(path, json={"cover_url": shown})).status_code == 200
    assert_error(await client.patch(path, json={"cover_url": cover}), 400, "invalid_request", param="cover_url")
    async with tenant.db.autocommit() as tx:
        assert (await events.find(tx, tenant.id, tenant.event_id)).event.cover_url == cover


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", None), ("title", ""), ("title", "  "), ("title", "x" * 201), ("title", 5), ("title", "a\x00b"),
        ("title", "a\u202eb"), ("starts_at", None), ("starts_at", "tomorrow"), ("starts_at", "2031-10-26T20:00:00"),
        ("starts_at", "1998-10-26T20:00:00Z"), ("ends_at", "2031-10-26T18:59:59Z"), ("ends_at", "9999-12-31T23:59:59Z"),
        ("time_zone", "Europe/Nowhere"), ("time_zone", ""), ("time_zone", "../../etc/passwd"), ("country", "be"),
        ("country", "XX"), ("country", "BEL"), ("cover_url", "http://example.org/a.png"), ("cover_url", "javascript:x"),
        ("cover_url", "https://a b"), ("description", "x" * 10_001), ("venue", "x" * 201), ("city", ["Brussels"]),
    ],
    ids=str,
)  # fmt: skip
async def test_a_bad_field_is_named(client: httpx2.AsyncClient, tenant: Tenant, field: str, value: object) -> None:
    body = {name: given for name, given in {**NEW, field: value}.items() if given is not None}
    assert_error(await client.post("/events", json=body), 400, "invalid_request", param=field)
    if value is not None and field != "ends_at":
        path = f"/events/{tenant.event_id}"
        assert_error(await client.patch(path, json={field: value}), 400, "invalid_request", param=field)


async def test_an_etag_of_an_earlier_version_is_refused(client: httpx2.AsyncClient) -> None:
    made = await client.post("/events", json=NEW)
    path, first = f"/events/{made.json()['data']['id']}", made.headers["ETag"]
    second = (await client.patch(path, json={"title": "Two"}, headers={"If-Match": first})).headers["ETag"]
    assert second != first
    for tag in (first, f"W/{second}", '"0"', f'"x", {first}'):
        answer = await client.patch(path, json={"title": "Three"}, headers={"If-Match": tag})
        assert_error(answer, 412, "changed_meanwhile")
        assert_error(await client.delete(path, headers={"If-Match": tag}), 412, "changed_meanwhile")
    for tag in ("", "x", '"', f"{second},"):
        answer = await client.patch(path, json={"title": "Three"}, headers={"If-Match": tag})
        assert_error(answer, 400, "invalid_request", param="If-Match")
    assert (await client.get(path)).json()["data"]["title"] == "Two"
    third = await client.patch(path, json={"title": "Three"}, headers={"If-Match": f"{first}, {second}"})
    assert third.status_code == 200
    assert (await client.patch(path, json={"title": "Four"}, headers={"If-Match": "*"})).status_code == 200
    assert (await client.patch(path, json={"title": "Five"})).status_code == 200


async def test_every_change_makes_a_new_version_and_a_sale_only_a_new_tag(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    path, tags = f"/events/{tenant.event_id}", list[str]()

    async def note() -> None:
        tags.append((await client.get(path)).headers["ETag"])

    await note()
    await tenant.card()
    await note()
    changed = await client.patch(path, json={"title": "Two"}, headers={"If-Match": tags[0]})
    assert changed.status_code == 200, "what was sold does not stand in the way of a change"
    await note()
    await client.post(f"{path}/end")
    await note()
    assert len(set(tags)) == 4
    versions = [tag.strip('"').partition(":")[0] for tag in tags]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3
    assert changed.headers["ETag"] == tags[2]


async def test_a_draft_is_deleted_and_nothing_else(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await draft(client)
    await category(client, made["id"])
    path = f"/events/{made['id']}"
    answer = await client.delete(path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert_error(await client.get(path), 404, "event_not_found")
    assert_error(await client.delete(path), 404, "event_not_found")
    used = await draft(client)
    one = await category(client, used["id"])
    card = await tenant.card(with_ticket=False)
    async with tenant.db.transaction() as tx:
        request = TicketRequest(UUID(used["id"]), UUID(one["id"]), card_id=card.id)
        await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())
    assert_error(await client.delete(f"/events/{used['id']}"), 409, "not_allowed")


async def test_other_statuses_are_listed_for_those_who_write(api: Api, tenant: Tenant) -> None:
    ids = {status: str(await tenant.event(status=status)) for status in EventStatus}
    reader, writer = await tenant.key(Scope.EVENTS_READ), await tenant.key(Scope.EVENTS_READ, Scope.EVENTS_WRITE)
    async with api.client(reader.text) as reads, api.client(writer.text) as writes:
        for status in EventStatus:
            answer = await writes.get("/events", params={"status": status})
            assert {one["status"] for one in answer.json()["data"]} == {status}
            assert ids[status] in [one["id"] for one in answer.json()["data"]]
            refused = await reads.get("/events", params={"status": status})
            assert refused.status_code == (200 if status is EventStatus.PUBLISHED else 403)
        for client in (reads, writes):
            assert {one["status"] for one in (await client.get("/events")).json()["data"]} == {"published"}
            answer = await client.get("/events", params={"status": "all"})
            assert_error(answer, 400, "invalid_request", param="status")


async def test_a_list_of_drafts_has_pages(client: httpx2.AsyncClient) -> None:
    made = [(await draft(client, ends_at=f"2031-10-2{n}T23:00:00Z", starts_at=f"2031-10-2{n}T20:00:00Z"))["id"]
            for n in (3, 1, 2)]  # fmt: skip
    seen, params = list[str](), {"status": "draft", "limit": 1}
    while True:
        page = await client.get("/events", params=params)
        seen += [one["id"] for one in page.json()["data"]]
        if not page.json()["has_more"]:
            break
        assert "status=draft" in page.headers["Link"]
        params["cursor"] = page.json()["next_cursor"]
    assert seen == [made[1], made[2], made[0]]


async def test_a_retry_makes_no_second_event(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    headers = {"Idempotency-Key": "k"}
    first = await client.post("/events", json=NEW, headers=headers)
    assert_replay(await client.post("/events", json=NEW, headers=headers), first)
    path = f"/events/{first.json()['data']['id']}"
    await client.patch(path, json={"title": "Changed"})
    again = await client.post("/events", json=NEW, headers=headers)
    assert (again.status_code, again.json()["data"]["title"]) == (201, "Changed"), "as it is now"
    other = await client.post("/events", json={**NEW, "title": "Other"}, headers=headers)
    assert_error(other, 422, "idempotency_key_reused")
    refused = await client.post(f"{path}/publish", headers={"Idempotency-Key": "p"})
    await category(client, first.json()["data"]["id"])
    assert_replay(await client.post(f"{path}/publish", headers={"Idempotency-Key": "p"}), refused)
    assert (await client.post(f"{path}/publish", headers={"Idempotency-Key": "q"})).status_code == 200


async def calls(client: httpx2.AsyncClient, event_id: object, category_id: object) -> dict[str, httpx2.Response]:
    """Every call that changes an event or a category."""
    event, one = f"/events/{event_id}", f"/ticket-categories/{category_id}"
    return {
        "change": await client.patch(event, json={"title": "Mine"}),
        "publish": await client.post(f"{event}/publish"),
        "cancel": await client.post(f"{event}/cancel", json={"reason": "Mine"}),
        "end": await client.post(f"{event}/end"),
        "delete": await client.delete(event),
        "add": await client.post(f"{event}/ticket-categories", json=STANDING),
        "change category": await client.patch(one, json={"name": "Mine"}),
        "delete category": await client.delete(one),
    }


async def test_another_organizations_events_are_not_found(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    answers = await calls(client, other.event_id, other.category_id)
    assert {answer.status_code for answer in answers.values()} == {404}
    for event_id in (uuid4(), "x", f"{other.event_id}x"):
        assert {answer.status_code for answer in (await calls(client, event_id, event_id)).values()} == {404}
    async with other.db.autocommit() as tx:
        found = await events.find(tx, other.id, other.event_id)
    assert (found.event.status, found.event.title, len(found.categories)) == ("published", "Summer Opening", 1)


async def test_no_other_scope_is_enough(api: Api, tenant: Tenant) -> None:
    others = await tenant.key(*set(Scope) - {Scope.EVENTS_WRITE, Scope.ADMIN})
    async with api.client(others.text) as client:
        answers = await calls(client, tenant.event_id, tenant.category_id)
        answers["create"] = await client.post("/events", json=NEW)
    for answer in answers.values():
        assert_error(answer, 403, "insufficient_scope")


async def test_the_sandboxs_event_stays_as_it_is(api: Api, tenant: Tenant) -> None:
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as client:
        answers = await calls(client, EVENT_ID, CATALOGUE_ENTRY.categories[0].id)
        assert {answer.status_code for answer in answers.values()} == {409}
        live = await calls(client, tenant.event_id, tenant.category_id)
        assert {answer.status_code for answer in live.values()} == {404}
        assert (await client.get("/events", params={"status": "draft"})).json()["data"] == []
    async with tenant.db.autocommit() as tx:
        assert (await events.find(tx, tenant.id, tenant.event_id)).event.title == "Summer Opening"


async def test_each_call_leaves_its_row_with_its_event(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    await client.patch(f"/events/{tenant.event_id}", json={"title": "Two"})
    await client.post(f"/events/{tenant.event_id}/cancel", json={"reason": "x"})
    await client.patch(f"/ticket-categories/{tenant.category_id}", json={"name": "x"})
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT method, path, status, code, event_id FROM logged_call WHERE organization_id = $1 ORDER BY at",
            tenant.id,
        )
    assert [tuple(row) for row in rows] == [
        ("PATCH", "/events/{id}", 200, None, tenant.event_id),
        ("POST", "/events/{id}/cancel", 200, None, tenant.event_id),
        ("PATCH", "/ticket-categories/{id}", 409, "not_allowed", tenant.event_id),
    ]
