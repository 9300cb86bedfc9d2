"""The feed: all messages in order, none skipped, however late its transaction commits."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from gatepass.api.schemas import packed
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import Message, MessageType
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.api.subscriptions import create
from tests.factory import Tenant


async def read(client: httpx2.AsyncClient, after: str | None = None, limit: int = 100) -> dict[str, Any]:
    answer = await client.get("/webhook-events", params={"limit": limit, **({"after": after} if after else {})})
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() == {"data", "has_more", "next_cursor"}
    return answer.json()


async def read_all(client: httpx2.AsyncClient, after: str | None = None, limit: int = 100) -> tuple[list[str], str]:
    """The ids of all messages after this mark, and the last mark."""
    ids: list[str] = []
    while True:
        page = await read(client, after, limit)
        ids += [message["id"] for message in page["data"]]
        after = page["next_cursor"]
        assert after is not None
        if not page["has_more"]:
            return ids, after


async def tell(tx: Tx, tenant: Tenant, count: int = 1) -> list[str]:
    messages = [Message(new_id(), MessageType.TICKET_ACTIVATED, {}) for _ in range(count)]
    await webhooks.emit(tx, tenant.id, messages, at=factory.now())
    return [webhooks.written_id(message.id) for message in messages]


def written(ids: list[UUID]) -> list[str]:
    return [webhooks.written_id(id) for id in ids]


async def test_messages_are_read_oldest_first_in_the_bytes_that_are_sent(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    await create(client)
    told = [id for _ in range(5) for id in await tenant.tell(3)]
    for limit in (1, 2, 3, 100):
        assert (await read_all(client, limit=limit))[0] == written(told)
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT id, body FROM webhook_event WHERE organization_id = $1", tenant.id)
    text = (await client.get("/webhook-events")).content
    assert all(row["body"] in text for row in rows)


async def test_a_scan_is_in_the_feed(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    _, mark = await read_all(client)
    scanned = await client.post("/scan", json=scan_body(tenant, card.number))
    *_, message = (await read(client, mark))["data"]
    assert message["type"] == "ticket.activated"
    assert message["organization_id"] == str(tenant.id)
    assert message["data"]["ticket_id"] == scanned.json()["data"]["ticket_id"]
    assert message["data"]["card_number"] == card.number


async def test_reading_opens_the_feed(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """Without a subscribed endpoint no message is stored until the feed is first read."""
    await tenant.tell()
    page = await read(client)
    assert page["data"] == []
    told = await tenant.tell(2)
    assert (await read_all(client, page["next_cursor"]))[0] == written(told)
    assert (await read_all(client))[0] == written(told)


async def test_the_end_can_be_passed_again_and_again(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    _, mark = await read_all(client)
    for _ in range(3):
        told = await tenant.tell()
        twice = [await read(client, mark) for _ in range(2)]
        assert [[message["id"] for message in page["data"]] for page in twice] == [written(told)] * 2
        empty = await read(client, twice[1]["next_cursor"])
        assert (empty["data"], empty["has_more"]) == ([], False)
        mark = empty["next_cursor"]


async def test_what_commits_late_is_not_passed_over(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """The first transaction to write is the last to commit."""
    _, mark = await read_all(client)
    async with tenant.db.transaction() as slow:
        first = await tell(slow, tenant)
        async with tenant.db.transaction() as quick:
            second = await tell(quick, tenant)
        page = await read(client, mark)
        assert page["data"] == [], "what is newer than a transaction that still runs waits for it"
        assert (await read(client))["data"] == []
        mark = page["next_cursor"]
    assert (await read_all(client, mark))[0] == first + second
    assert (await read_all(client))[0] == first + second


async def test_what_is_undone_is_never_there(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    _, mark = await read_all(client)

    async def change_ones_mind() -> None:
        async with tenant.db.transaction() as tx:
            await tell(tx, tenant)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await change_ones_mind()
    told = await tenant.tell()
    assert (await read_all(client, mark))[0] == written(told)


async def test_a_reader_who_never_stops_misses_nothing(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """Transactions pause between writing and committing, and some roll back."""
    _, mark = await read_all(client)
    seed = 20_310_501
    told: set[str] = set()
    done = asyncio.Event()

    async def write(chance: random.Random) -> None:
        for _ in range(15):
            try:
                async with tenant.db.transaction() as tx:
                    ids = await tell(tx, tenant, chance.randint(1, 3))
                    await asyncio.sleep(chance.random() / 50)
                    if chance.random() < 0.2:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                continue
            told.update(ids)

    async def follow() -> list[str]:
        seen: list[str] = []
        after = mark
        while not done.is_set():
            ids, after = await read_all(client, after, limit=5)
            seen += ids
        return seen + (await read_all(client, after, limit=5))[0]

    reading = asyncio.create_task(follow())
    await asyncio.gather(*[write(random.Random(seed + n)) for n in range(6)])
    done.set()
    seen = await reading
    assert len(seen) == len(set(seen))
    assert set(seen) == told
    assert seen == (await read_all(client, mark))[0], "and always in the same order"


@asynccontextmanager
async def feed_row(tenant: Tenant) -> AsyncGenerator[dict[str, Any]]:
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT xmin::text AS version, * FROM webhook_feed WHERE organization_id = $1", tenant.id)
    yield dict(rows[0])


async def test_reading_writes_once_a_day(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    at = factory.now()

    async def opened(at: datetime) -> None:
        async with tenant.db.autocommit() as tx:
            await webhooks.open_feed(tx, tenant.id, Mode.LIVE, at=at)

    await opened(at)
    async with feed_row(tenant) as first:
        assert first["open_until"] == at + timedelta(days=30)
    await opened(at + timedelta(hours=23))
    async with feed_row(tenant) as second:
        assert second == first
    await opened(at + timedelta(hours=25))
    async with feed_row(tenant) as third:
        assert third["open_until"] == at + timedelta(hours=25, days=30)


async def test_modes_and_organizations_do_not_meet(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    stranger = await (await factory.tenant(tenant.db)).key()
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as sandbox, api.client(stranger.text) as other:
        for one in (client, sandbox, other):
            await read(one)
        await tenant.tell()
        answer = await sandbox.post(
            "/scan", json={"event_id": "00000000-0000-0000-0000-00000000e7e7", "card_number": "TEST_VALID"}
        )
        assert answer.status_code == 200
        assert len((await read(client))["data"]) == 1
        assert [message["type"] for message in (await read(sandbox))["data"]] == ["ticket.activated"]
        assert (await read(other))["data"] == []


async def test_the_sandbox_is_always_kept(api: Api, tenant: Tenant) -> None:
    """So that a developer finds messages from before the first endpoint."""
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as sandbox:
        body = {"event_id": "00000000-0000-0000-0000-00000000e7e7", "card_number": "TEST_VIP"}
        assert (await sandbox.post("/scan", json=body)).status_code == 200
        assert len((await read(sandbox))["data"]) == 1


@pytest.mark.parametrize("after", ["", "x", "MS4", "=", "é", "MTIzNDU2Nzg5MDEyMzQ1Njc4OS4w", "x" * 5_000], ids=repr)
async def test_marks_that_nobody_gave_out(client: httpx2.AsyncClient, after: str) -> None:
    assert_error(await client.get("/webhook-events", params={"after": after}), 400, "invalid_request", param="after")


async def test_a_mark_from_beyond_leads_back_to_now(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """As after a failover to a standby that had not received everything."""
    page = await read(client, packed(10**17, UUID(int=7)))
    assert page["data"] == []
    told = await tenant.tell()
    assert (await read_all(client, page["next_cursor"]))[0] == written(told)


async def test_a_body_is_answered_as_it_is_stored(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """With its spaces, order and escapes: a client may check a signature later."""
    await create(client)
    await tenant.tell()
    odd = (
        b'{"id" : "evt_1",  "type":"x", "organization_id":"\\u0041", "created_at":"", "data":{"b":1.0,"a":"\xc3\xa9"}}'
    )
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE webhook_event SET body = $2 WHERE organization_id = $1", tenant.id, odd)
    answer = await client.get("/webhook-events")
    assert answer.headers["content-type"] == "application/json"
    assert odd in answer.content
    assert json.loads(answer.content)["data"] == [json.loads(odd)]


async def forget(tenant: Tenant, ids: list[UUID]) -> None:
    """As a restore to an earlier moment does."""
    async with tenant.db.transaction() as tx:
        await tx.run("DELETE FROM webhook_event WHERE organization_id = $1 AND id = ANY ($2)", tenant.id, ids)


async def test_an_empty_page_gives_back_the_same_cursor(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """Never the server's own position: after a failover it may lie before what was given out."""
    start = (await read(client))["next_cursor"]
    assert (await read(client, start))["next_cursor"] == start
    await tenant.tell()
    mark = (await read(client, start))["next_cursor"]
    assert (await read(client, mark))["next_cursor"] == mark


async def test_a_server_whose_transactions_are_counted_from_further_back(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    """A restore lost the message of the cursor, and the ids of transactions begin again below it."""
    await read(client)
    (lost,) = await tenant.tell()
    mark = packed(2**40, lost)
    await forget(tenant, [lost])
    assert (await read(client, mark))["data"] == []
    told = await tenant.tell(3)
    ids, after = await read_all(client, mark)
    assert ids == written(told)
    assert await read_all(client, after) == ([], after)


async def test_a_restore_repeats_at_most_what_is_of_the_same_minutes(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    await read(client)
    kept, lost = await tenant.tell(), await tenant.tell()
    _, mark = await read_all(client)
    await forget(tenant, lost)
    told = await tenant.tell(2)
    assert (await read_all(client, mark))[0] == written(kept + told)


async def test_a_cursor_of_the_version_before_is_still_read(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    """It may name a transaction and no message."""
    await read(client)
    told = await tenant.tell()
    async with tenant.db.autocommit() as tx:
        finished = int(await tx.value("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"))
    assert (await read_all(client, packed(finished, UUID(int=0))))[0] == []
    assert (await read_all(client, packed(2**40, UUID(int=0))))[0] == written(told), "from another server's future"
