"""Events as callers read them: many reads in one statement, 304, and keys that have just ended."""

import asyncio
from uuid import uuid4

import httpx2
import pytest

from gatepass.base.database import Database
from gatepass.domain import events, keys, sandbox
from gatepass.domain.events import CatalogueQuestion, CatalogueRead, EventStatus
from gatepass.domain.keys import Mode
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.domain.devices import paired
from tests.factory import Tenant


async def read(client: httpx2.AsyncClient, path: str, tag: str | None = None) -> httpx2.Response:
    return await client.get(path, headers={} if tag is None else {"If-None-Match": tag})


@pytest.mark.parametrize("path", ["/events", "/events/{id}"])
async def test_what_the_caller_has_is_not_sent_again(client: httpx2.AsyncClient, tenant: Tenant, path: str) -> None:
    path = path.format(id=tenant.event_id)
    first = await read(client, path)
    tag = first.headers["ETag"]
    for seen in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        again = await read(client, path, seen)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == tag
        assert not {"content-type", "content-length", "transfer-encoding"} & set(again.headers)
        assert {"x-request-id", "ratelimit"} <= set(again.headers)
    for other in ('"x"', "x", "", f"{tag},", tag.strip('"')):
        assert (await read(client, path, other)).content == first.content
    await tenant.card()
    sold = await read(client, path, tag)
    assert sold.status_code == 200, "a sale changes what is shown"
    await client.patch(f"/events/{tenant.event_id}", json={"title": "Another"})
    assert (await read(client, path, sold.headers["ETag"])).status_code == 200


async def test_the_fictional_event_has_a_tag_too(api: Api, tenant: Tenant) -> None:
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as client:
        for path in ("/events", f"/events/{sandbox.EVENT_ID}"):
            first = await read(client, path)
            assert sandbox.CATALOGUE_ENTRY.event.title in first.text
            assert (await read(client, path, first.headers["ETag"])).status_code == 304


@pytest.mark.parametrize("path", ["/events", "/events/{id}"])
async def test_a_revoked_key_is_refused_with_the_next_read(api: Api, db: Database, tenant: Tenant, path: str) -> None:
    key, path = await tenant.key(), path.format(id=tenant.event_id)
    async with api.client(key.text) as client:
        tag = (await read(client, path)).headers["ETag"]
        async with db.transaction() as tx:
            await keys.revoke(tx, tenant.id, key.id, by="test", at=factory.now())
        assert_error(await read(client, path), 401, "invalid_key")
        assert_error(await read(client, path, tag), 401, "invalid_key")


async def test_a_moved_device_reads_its_new_event_and_not_its_old_one(api: Api, tenant: Tenant) -> None:
    device, new = await paired.pair(tenant), await tenant.event()
    old_path, new_path = f"/events/{tenant.event_id}", f"/events/{new}"
    async with api.client(device.key) as client:
        assert (await read(client, old_path)).status_code == 200
        assert_error(await read(client, new_path), 404, "event_not_found")
        await paired.move(tenant, device.device, event_id=new)
        assert_error(await read(client, old_path), 404, "event_not_found")
        assert (await read(client, new_path)).status_code == 200
        await paired.move(tenant, device.device, event_id=tenant.event_id)
        assert (await read(client, old_path)).status_code == 200
        await paired.retire(tenant, device.device)
        assert_error(await read(client, old_path), 403, "insufficient_scope")


async def test_a_change_is_read_with_the_next_call(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    for title in ("One", "Two", "Three"):
        await client.patch(f"/events/{tenant.event_id}", json={"title": title})
        assert (await read(client, f"/events/{tenant.event_id}")).json()["data"]["title"] == title
        assert title in (await read(client, "/events")).text


async def test_reads_together_each_get_their_own(api: Api, db: Database) -> None:
    """Lists and single events of several organizations, with good, dead and foreign keys, in one batch."""
    tenants = [await factory.tenant(db) for _ in range(4)]
    made = [await tenant.key() for tenant in tenants]
    dead = await tenants[0].key()
    for key in [*made, dead]:
        async with api.client(key.text) as client:
            assert (await client.get("/events")).status_code == 200
    async with db.transaction() as tx:
        await keys.revoke(tx, tenants[0].id, dead.id, by="test", at=factory.now())

    async def asked(key: str, path: str) -> httpx2.Response:
        async with api.client(key) as client:
            return await client.get(path)

    for _ in range(3):
        answers = await asyncio.gather(
            *(asked(key.text, "/events") for key in made),
            *(asked(key.text, f"/events/{tenant.event_id}") for key, tenant in zip(made, tenants, strict=True)),
            *(asked(key.text, f"/events/{tenants[3].event_id}") for key in made[:3]),
            asked(dead.text, "/events"),
        )
        listed, single, foreign, refused = answers[:4], answers[4:8], answers[8:11], answers[11]
        for tenant, many, one in zip(tenants, listed, single, strict=True):
            assert [event["id"] for event in many.json()["data"]] == [str(tenant.event_id)]
            assert one.json()["data"] == many.json()["data"][0]
        for answer in foreign:
            assert_error(answer, 404, "event_not_found")
        assert_error(refused, 401, "invalid_key")


async def test_the_statement_reads_what_the_catalogue_has(db: Database, tenant: Tenant) -> None:
    """With every status, place and limit; the text has every field, and equal events have equal texts."""
    key = await tenant.key()
    for status in EventStatus:
        await tenant.event(status=status)
    async with db.transaction() as tx:
        known = {
            id: await events.find(tx, tenant.id, id)
            for id in [row["id"] for row in await tx.rows("SELECT id FROM event WHERE organization_id = $1", tenant.id)]
        }
        reads = [
            *(CatalogueRead(tenant.id, status, None, limit) for status in EventStatus for limit in (1, 100)),
            *(CatalogueRead(tenant.id, event_id=id) for id in [*known, uuid4()]),
        ]
        questions = [CatalogueQuestion(tenant.id, key.id, one) for one in [*reads, *reads]]
        found = await events.read_batch(tx, questions, at=factory.now())
    for one, text in zip(reads, found, strict=False):
        assert text is not None
        wanted = [
            entry
            for entry in sorted(known.values(), key=lambda entry: (entry.event.starts_at, entry.event.id))
            if one.event_id == entry.event.id or one.status is entry.event.status
        ]
        assert events.entries(text) == wanted[: one.limit]
    assert found[: len(reads)] == found[len(reads) :]
    assert found[-1] == events.NOTHING
