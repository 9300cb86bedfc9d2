"""What a scan tells: one message for each activation, in its own transaction, in the words of the description."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from gatepass.api.errors import VERDICT_STATUSES
from gatepass.base.clock import rfc3339
from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import sandbox, tickets
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan, Verdict
from gatepass.domain.webhooks import Message, MessageType, written_id
from tests import make
from tests.contract.description import faults, message_schema, resolved
from tests.domain.tickets.test_ended_keys import gate
from tests.make import House

URL = "https://example.com/hook"


async def scan(db: Database, *scans: Scan) -> list[Verdict]:
    async with db.statement() as tx:
        verdicts = await tickets.activate(tx, scans, at=make.now(), statuses=VERDICT_STATUSES)
    return [verdict for verdict in verdicts if verdict is not None]


async def told(house: House) -> list[dict[str, Any]]:
    """Every message of the organization, in the order of writing."""
    async with house.db.reading() as tx:
        rows = await tx.rows(
            "SELECT type, body FROM webhook_event WHERE organization_id = $1 ORDER BY txid, at, id", house.id
        )
    messages = [json.loads(row["body"]) for row in rows]
    assert [row["type"] for row in rows] == [message["type"] for message in messages]
    return messages


async def queued(house: House) -> list[tuple[UUID, UUID]]:
    """For each place in the queue: the endpoint and what it is about."""
    async with house.db.reading() as tx:
        rows = await tx.rows(
            "SELECT q.endpoint_id, q.ordering_key FROM webhook_queue q"
            "  JOIN webhook_delivery d ON d.organization_id = q.organization_id AND d.endpoint_id = q.endpoint_id"
            "   AND d.at = q.delivery_at AND d.id = q.delivery_id"
            " WHERE q.organization_id = $1 ORDER BY q.id", house.id,
        )  # fmt: skip
    return [(row["endpoint_id"], row["ordering_key"]) for row in rows]


async def test_an_activation_is_told_once_to_each_endpoint_that_asks(db: Database, house: House) -> None:
    first, _ = await house.endpoint(URL)
    second, _ = await house.endpoint(URL)
    await house.endpoint(URL, MessageType.TICKET_CANCELLED)
    await house.endpoint(URL, mode=Mode.SANDBOX)
    one = await gate(house, retry_key="a")
    (verdict,) = await scan(db, one)
    (again,) = await scan(db, replace(one, request_id=new_id()))
    (other_gate,) = await scan(db, replace(one, request_id=new_id(), retry_key=None))
    assert (verdict.verdict, again.replayed, other_gate.verdict) == ("activated", True, "already_activated")
    (message,) = await told(house)
    assert message["id"] == written_id(one.request_id)
    assert message["organization_id"] == str(house.id)
    assert message["created_at"] == message["data"]["activated_at"]
    assert message["data"] == {
        "ticket_id": str(verdict.ticket_id),
        "event_id": str(house.event_id),
        "card_number": one.card_number,
        "activated_at": message["created_at"],
    }
    assert sorted(await queued(house)) == sorted((id, verdict.ticket_id) for id in (first, second))


async def test_nothing_is_written_when_nobody_asks(db: Database, house: House) -> None:
    (verdict,) = await scan(db, await gate(house))
    assert verdict.verdict == "activated"
    assert await told(house) == []


async def test_a_reader_of_the_feed_is_reason_enough(db: Database, house: House) -> None:
    async with db.transaction() as tx:
        await tx.run("INSERT INTO webhook_feed VALUES ($1, 'live', now() + interval '1 day')", house.id)
    await scan(db, await gate(house))
    assert [message["type"] for message in await told(house)] == ["ticket.activated"]
    assert await queued(house) == []


async def test_denials_are_told_to_who_asks_for_them(db: Database, house: House) -> None:
    asks, _ = await house.endpoint(URL, MessageType.SCAN_DENIED)
    odd = 'SVC "9\\" 🎟\n'
    one = await gate(
        house, retry_key=None, card_number=odd, gate='North "2"', occurred_at=make.now() - timedelta(hours=1)
    )
    (verdict,) = await scan(db, one)
    assert verdict.verdict == "card_not_found"
    (message,) = await told(house)
    assert message["type"] == "scan.denied"
    assert one.occurred_at is not None
    assert message["data"] == {
        "event_id": str(house.event_id),
        "card_number": odd,
        "ticket_id": None,
        "code": "card_not_found",
        "gate": 'North "2"',
        "scanner_id": None,
        "occurred_at": rfc3339(one.occurred_at),
        "denied_at": message["created_at"],
    }
    assert [endpoint for endpoint, _ in await queued(house)] == [asks]


async def test_a_reused_retry_key_is_no_denial(db: Database, house: House) -> None:
    await house.endpoint(URL, MessageType.SCAN_DENIED)
    one = await gate(house, retry_key="a")
    await scan(db, one)
    (verdict,) = await scan(db, replace(one, request_id=new_id(), gate="elsewhere"))
    assert verdict.verdict == "idempotency_key_reused"
    assert await told(house) == []


@pytest.mark.parametrize("card", ["TEST_VALID", "TEST_VIP"])
async def test_the_sandbox_tells_its_own_endpoints(db: Database, house: House, card: str) -> None:
    live, _ = await house.endpoint(URL)
    trying, _ = await house.endpoint(URL, mode=Mode.SANDBOX)
    key = await house.key(mode=Mode.SANDBOX)
    one = await gate(
        house, mode=Mode.SANDBOX, key_id=key.id, retry_key=None, card_number=card, shown=card,
        event_id=sandbox.EVENT_ID, given=sandbox.judge(sandbox.EVENT_ID, card),
    )  # fmt: skip
    await scan(db, one)
    (message,) = await told(house)
    assert message["data"]["card_number"] == card
    assert message["data"]["ticket_id"] == str(sandbox.CARDS[card].ticket_id)
    assert [endpoint for endpoint, _ in await queued(house)] == [trying]
    assert live != trying


async def test_a_batch_of_many_organizations_tells_each_its_own(db: Database) -> None:
    houses = [await make.house(db) for _ in range(3)]
    for house in houses[:2]:
        await house.endpoint(URL)
    scans = [await gate(house, retry_key=None) for house in houses for _ in range(5)]
    await scan(db, *scans)
    for house, expected in zip(houses, (5, 5, 0), strict=True):
        messages = await told(house)
        own = {written_id(one.request_id) for one in scans if one.organization_id == house.id}
        assert {message["id"] for message in messages} == (own if expected else set())
        assert len(messages) == expected == len(await queued(house))


async def test_messages_are_as_the_interface_describes_them(db: Database, house: House) -> None:
    await house.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.SCAN_DENIED)
    one = await gate(house, retry_key=None)
    await scan(db, one, replace(one, request_id=new_id()))
    messages = await told(house)
    assert {message["type"] for message in messages} == {"ticket.activated", "scan.denied"}
    for message in messages:
        schema = message_schema(message["type"])
        assert faults(schema, message) == []
        assert list(message["data"]) == list(resolved(schema)["properties"]["data"]["properties"])


async def test_bytes_written_by_sql_and_by_python_look_alike(db: Database, house: House) -> None:
    """The same order of fields, no spaces; only the times are cut differently."""
    await house.endpoint(URL)
    one = await gate(house, retry_key=None)
    await scan(db, one)
    async with db.reading() as tx:
        (row,) = await tx.rows("SELECT body, at FROM webhook_event WHERE organization_id = $1", house.id)
    data = json.loads(row["body"])["data"]
    by_python = Message(one.request_id, MessageType.TICKET_ACTIVATED, data).body(house.id, row["at"])
    written = json.loads(row["body"])["created_at"]
    assert row["body"] == by_python.replace(rfc3339(row["at"]).encode(), written.encode())
