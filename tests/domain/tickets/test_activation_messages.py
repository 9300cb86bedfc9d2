"""The messages of scans: one for each activation, in its own transaction, as the interface describes them."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from gatepass.api.responses import VERDICT_STATUSES
from gatepass.base.clock import rfc3339
from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import sandbox, tickets
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan, ScanOutcome
from gatepass.domain.webhooks import Message, MessageType, written_id
from tests import factory
from tests.contract.openapi_reader import faults, message_schema, resolved
from tests.domain.tickets.scans import shown
from tests.factory import Tenant

URL = "https://example.com/hook"


async def scan(db: Database, *scans: Scan) -> list[ScanOutcome]:
    async with db.autocommit() as tx:
        outcomes = await tickets.activate(tx, scans, at=factory.now(), statuses=VERDICT_STATUSES)
    return [outcome for outcome in outcomes if outcome is not None]


async def messages_of(tenant: Tenant) -> list[dict[str, Any]]:
    """Every message of the organization, in the order of writing."""
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT type, body FROM webhook_event WHERE organization_id = $1 ORDER BY txid, at, id", tenant.id
        )
    messages = [json.loads(row["body"]) for row in rows]
    assert [row["type"] for row in rows] == [message["type"] for message in messages]
    return messages


async def queued(tenant: Tenant) -> list[tuple[UUID, UUID]]:
    """For each row of the queue: the endpoint and the ordering key."""
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT q.endpoint_id, q.ordering_key FROM webhook_queue q"
            "  JOIN webhook_delivery d ON d.organization_id = q.organization_id AND d.endpoint_id = q.endpoint_id"
            "   AND d.at = q.delivery_at AND d.id = q.delivery_id"
            " WHERE q.organization_id = $1 ORDER BY q.id", tenant.id,
        )  # fmt: skip
    return [(row["endpoint_id"], row["ordering_key"]) for row in rows]


async def test_an_activation_is_told_once_to_each_endpoint_that_asks(db: Database, tenant: Tenant) -> None:
    first, _ = await tenant.endpoint(URL)
    second, _ = await tenant.endpoint(URL)
    await tenant.endpoint(URL, MessageType.TICKET_CANCELLED)
    await tenant.endpoint(URL, mode=Mode.SANDBOX)
    occurred_at = factory.now() - timedelta(hours=1)
    one = await shown(tenant, idempotency_key="a", gate='North "2"', scanner_id="handheld\\17", occurred_at=occurred_at)
    (verdict,) = await scan(db, one)
    (again,) = await scan(db, replace(one, request_id=new_id()))
    (other_gate,) = await scan(db, replace(one, request_id=new_id(), idempotency_key=None))
    assert (verdict.verdict, again.replayed, other_gate.verdict) == ("activated", True, "already_activated")
    (message,) = await messages_of(tenant)
    assert message["id"] == written_id(one.request_id)
    assert message["organization_id"] == str(tenant.id)
    assert message["created_at"] == message["data"]["activated_at"]
    assert message["data"] == {
        "ticket_id": str(verdict.ticket_id),
        "event_id": str(tenant.event_id),
        "card_number": one.card_number,
        "activated_at": message["created_at"],
        "occurred_at": rfc3339(occurred_at),
        "gate": 'North "2"',
        "scanner_id": "handheld\\17",
    }
    assert sorted(await queued(tenant)) == sorted((id, verdict.ticket_id) for id in (first, second))


async def test_nothing_is_written_when_nobody_asks(db: Database, tenant: Tenant) -> None:
    (verdict,) = await scan(db, await shown(tenant))
    assert verdict.verdict == "activated"
    assert await messages_of(tenant) == []


async def test_a_reader_of_the_feed_is_reason_enough(db: Database, tenant: Tenant) -> None:
    async with db.transaction() as tx:
        await tx.run("INSERT INTO webhook_feed VALUES ($1, 'live', now() + interval '1 day')", tenant.id)
    await scan(db, await shown(tenant))
    assert [message["type"] for message in await messages_of(tenant)] == [
        "card.issued",
        "ticket.issued",
        "ticket.activated",
    ]
    assert await queued(tenant) == []


async def test_denials_are_told_to_who_asks_for_them(db: Database, tenant: Tenant) -> None:
    asks, _ = await tenant.endpoint(URL, MessageType.SCAN_DENIED)
    odd = 'SVC "9\\" 🎟\n'
    one = await shown(
        tenant, idempotency_key=None, card_number=odd, gate='North "2"', occurred_at=factory.now() - timedelta(hours=1)
    )
    (verdict,) = await scan(db, one)
    assert verdict.verdict == "card_not_found"
    (message,) = await messages_of(tenant)
    assert message["type"] == "scan.denied"
    assert one.occurred_at is not None
    assert message["data"] == {
        "event_id": str(tenant.event_id),
        "card_number": odd,
        "ticket_id": None,
        "code": "card_not_found",
        "gate": 'North "2"',
        "scanner_id": None,
        "occurred_at": rfc3339(one.occurred_at),
        "denied_at": message["created_at"],
    }
    assert [endpoint for endpoint, _ in await queued(tenant)] == [asks]


async def test_a_reused_idempotency_key_is_no_denial(db: Database, tenant: Tenant) -> None:
    await tenant.endpoint(URL, MessageType.SCAN_DENIED)
    one = await shown(tenant, idempotency_key="a")
    await scan(db, one)
    (verdict,) = await scan(db, replace(one, request_id=new_id(), gate="elsewhere"))
    assert verdict.verdict == "idempotency_key_reused"
    assert await messages_of(tenant) == []


@pytest.mark.parametrize("card", ["TEST_VALID", "TEST_VIP"])
async def test_the_sandbox_tells_its_own_endpoints(db: Database, tenant: Tenant, card: str) -> None:
    live, _ = await tenant.endpoint(URL)
    trying, _ = await tenant.endpoint(URL, mode=Mode.SANDBOX)
    key = await tenant.key(mode=Mode.SANDBOX)
    one = await shown(
        tenant, mode=Mode.SANDBOX, key_id=key.id, idempotency_key=None, card_number=card, shown=card,
        event_id=sandbox.EVENT_ID, given=sandbox.judge(card),
    )  # fmt: skip
    await scan(db, one)
    (message,) = await messages_of(tenant)
    assert message["data"]["card_number"] == card
    assert message["data"]["ticket_id"] == str(sandbox.CARDS[card].ticket_id)
    assert [endpoint for endpoint, _ in await queued(tenant)] == [trying]
    assert live != trying


async def test_a_batch_of_many_organizations_tells_each_its_own(db: Database) -> None:
    tenants = [await factory.tenant(db) for _ in range(3)]
    for tenant in tenants[:2]:
        await tenant.endpoint(URL)
    scans = [await shown(tenant, idempotency_key=None) for tenant in tenants for _ in range(5)]
    await scan(db, *scans)
    for tenant, expected in zip(tenants, (5, 5, 0), strict=True):
        messages = await messages_of(tenant)
        own = {written_id(one.request_id) for one in scans if one.organization_id == tenant.id}
        assert {message["id"] for message in messages} == (own if expected else set())
        assert len(messages) == expected == len(await queued(tenant))


async def test_messages_are_as_the_interface_describes_them(db: Database, tenant: Tenant) -> None:
    await tenant.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.SCAN_DENIED)
    one = await shown(tenant, idempotency_key=None)
    await scan(db, one, replace(one, request_id=new_id()))
    messages = await messages_of(tenant)
    assert {message["type"] for message in messages} == {"ticket.activated", "scan.denied"}
    for message in messages:
        schema = message_schema(message["type"])
        assert faults(schema, message) == []
        assert list(message["data"]) == list(resolved(schema)["properties"]["data"]["properties"])


async def test_bytes_written_by_sql_and_by_python_look_alike(db: Database, tenant: Tenant) -> None:
    """The same order of fields, no spaces; only the precision of the times differs."""
    await tenant.endpoint(URL)
    one = await shown(tenant, idempotency_key=None)
    await scan(db, one)
    async with db.autocommit() as tx:
        (row,) = await tx.rows("SELECT body, at FROM webhook_event WHERE organization_id = $1", tenant.id)
    data = json.loads(row["body"])["data"]
    by_python = Message(one.request_id, MessageType.TICKET_ACTIVATED, data).body(tenant.id, row["at"])
    written = json.loads(row["body"])["created_at"]
    assert row["body"] == by_python.replace(rfc3339(row["at"]).encode(), written.encode())
