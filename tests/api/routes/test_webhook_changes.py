"""PATCH /webhooks/{id}: what is kept, pausing and resuming, the audit log and the request log of a change."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx2

from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from tests import factory
from tests.api.conftest import assert_error, request_id, scan_body
from tests.api.subscriptions import TYPES, URL, changes_of, create
from tests.factory import Tenant


async def test_what_is_left_out_stays(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await create(client, description="Box office")
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert (await client.patch(f"/webhooks/{made['id']}", json={})).json() == {"data": shown}
    assert (await client.patch(f"/webhooks/{made['id']}", json={"new": 1, "url": URL})).json() == {"data": shown}
    assert await changes_of(tenant, made["id"]) == [("created", None, "live https://hooks.example.com")]


async def set_failing(tenant: Tenant, reason: str | None) -> None:
    """Write the columns as a worker does."""
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET failures = 7, failing_since = now(), blocked_until = now() + '1 hour',"
            " status = CASE WHEN $2::text IS NULL THEN 'active' ELSE 'paused' END, paused_reason = $2"
            " WHERE organization_id = $1",
            tenant.id,
            reason,
        )


async def record(tenant: Tenant) -> tuple[Any, ...]:
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT failures, failing_since, blocked_until FROM webhook_endpoint WHERE organization_id = $1", tenant.id
        )
    return tuple(rows[0])


async def test_pausing_and_resuming(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await create(client)
    url = f"/webhooks/{made['id']}"
    paused = (await client.patch(url, json={"status": "paused"})).json()["data"]
    assert (paused["status"], paused["paused_reason"]) == ("paused", "requested")
    await set_failing(tenant, "gone")
    kept = (await client.patch(url, json={"status": "paused"})).json()["data"]
    assert (kept["status"], kept["paused_reason"]) == ("paused", "gone"), "it stays paused for the reason that it has"
    resumed = (await client.patch(url, json={"status": "active"})).json()["data"]
    assert (resumed["status"], resumed["paused_reason"], resumed["failing_since"]) == ("active", None, None)
    assert await record(tenant) == (0, None, None)
    assert_error(await client.patch(url, json={"status": "gone"}), 400, "invalid_request", param="status")
    assert_error(await client.patch(url, json={"status": None}), 400, "invalid_request", param="status")
    assert [line[0] for line in await changes_of(tenant, made["id"])] == ["created", "paused", "resumed"]


async def test_another_address_starts_with_a_clean_record(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await create(client)
    await set_failing(tenant, None)
    await client.patch(f"/webhooks/{made['id']}", json={"description": "the same", "url": URL})
    assert (await record(tenant))[0] == 7
    await client.patch(f"/webhooks/{made['id']}", json={"url": "https://example.org"})
    assert await record(tenant) == (0, None, None)


async def test_changes_are_in_the_audit_log_without_secrets(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made = await create(client, description="call me")
    url = f"/webhooks/{made['id']}"
    await client.patch(url, json={"url": "https://example.org:8443/a-secret-path", "types": ["scan.denied"]})
    await client.patch(url, json={"description": "call me later"})
    await client.post(f"{url}/rotate-secret")
    await client.delete(url)
    noted = await changes_of(tenant, made["id"])
    assert noted == [
        ("created", None, "live https://hooks.example.com"),
        ("url changed", "https://hooks.example.com", "https://example.org:8443"),
        ("types changed", "ticket.activated ticket.cancelled", "scan.denied"),
        ("description changed", None, None),
        ("secret issued", None, None),
        ("deleted", "live https://example.org:8443", None),
    ]
    async with tenant.db.autocommit() as tx:
        actors = await tx.rows("SELECT DISTINCT actor FROM audit_log WHERE subject_id = $1", UUID(made["id"]))
        key_id = await tx.value("SELECT id FROM api_key WHERE organization_id = $1", tenant.id)
    assert [row["actor"] for row in actors] == [f"key {key_id}"]


async def test_a_change_has_its_request_log_row_with_its_answer(client: httpx2.AsyncClient, tenant: Tenant) -> None:
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
    async with tenant.db.autocommit() as tx:
        rows = {
            row["id"]: row for row in await tx.rows("SELECT * FROM logged_call WHERE organization_id = $1", tenant.id)
        }
    for (method, path, code), answer in answers.items():
        row = rows[request_id(answer)]
        assert (row["method"], row["path"], row["code"]) == (method, path, code)
        assert row["status"] == answer.status_code
        assert 0 < row["duration_us"] < 60_000_000
    assert len(rows) == len(answers) + 1


async def test_a_change_and_its_request_log_row_commit_together(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """If the row cannot be written, nothing is changed."""
    async with tenant.db.transaction() as tx:
        await tx.run(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN IF new.status = 201 THEN RAISE EXCEPTION 'no room'; END IF; RETURN new; END $$"
        )
        await tx.run("CREATE TRIGGER refuse BEFORE INSERT ON request_log FOR EACH ROW EXECUTE FUNCTION refuse()")
    try:
        assert_error(await client.post("/webhooks", json={"url": URL, "types": TYPES}), 500, "internal_error")
    finally:
        async with tenant.db.transaction() as tx:
            await tx.run("DROP FUNCTION refuse CASCADE")
    assert (await client.get("/webhooks")).json()["data"] == []
    assert (await client.post("/webhooks", json={"url": URL, "types": TYPES})).status_code == 201


async def test_no_gate_waits_for_whoever_changes_an_endpoint(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    made, card = await create(client), await tenant.card()
    async with tenant.db.transaction() as tx:
        await webhooks.create_endpoint(
            tx, tenant.id, Mode.LIVE, factory.VAULT, url=URL, types=TYPES, description=None, allow_private=False,
            by=factory.BY, at=factory.now(),
        )  # fmt: skip
        await webhooks.delete_endpoint(tx, tenant.id, Mode.LIVE, UUID(made["id"]), by=factory.BY, at=factory.now())
        answer = await asyncio.wait_for(client.post("/scan", json=scan_body(tenant, card.number)), 60)
        assert answer.status_code == 200
