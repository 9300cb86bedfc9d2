"""A program of an integrator. It is never run: pyright and mypy, both strict, read it against the installed wheel."""

from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, assert_type

import httpx2

from gatepass_sdk import (
    AlreadyUsed,
    APIStatusError,
    AsyncGatepass,
    AsyncPage,
    AsyncPages,
    CardKeys,
    CardVerification,
    Delivery,
    DeliveryDetail,
    Event,
    EventCancelled,
    Gatepass,
    GatepassError,
    OtherEvent,
    Page,
    Pages,
    Replay,
    ScanResult,
    TicketActivated,
    TicketCancelled,
    TicketCategory,
    TokenReading,
    WebhookEndpoint,
    WebhookEvent,
)


def scans(client: Gatepass) -> None:
    ticket = client.scans.create("event", token="SVC1.…", gate="North 2", occurred_at=datetime.now(UTC))
    assert_type(ticket, ScanResult)
    assert_type(ticket.ticket_id, str)
    assert_type(ticket.replayed, bool)
    assert_type(ticket.raw, Mapping[str, Any])
    assert_type(client.scans.create("event", card_number="SVC 1", scanner_id="7", idempotency_key="k"), ScanResult)


def errors(client: Gatepass) -> int | None:
    try:
        client.scans.create("event", card_number="SVC 1")
    except AlreadyUsed as error:
        assert_type(error.details, Mapping[str, Any])
        return error.status
    except APIStatusError as error:
        assert_type(error.code, str | None)
        assert_type(error.request_id, str | None)
        assert_type(error.param, str | None)
        assert_type(error.retry_after, float | None)
    except GatepassError as error:
        assert_type(error.outcome_unknown, bool)
        assert_type(error.idempotency_key, str | None)
        assert_type(error.message, str)
    return None


def reads(client: Gatepass) -> None:
    assert_type(client.events.list(limit=10), Pages[Event])
    assert_type(client.events.list().pages(), Iterator[Page[Event]])
    assert_type(client.events.list().first().next_cursor, str | None)
    for event in client.events.list():
        assert_type(event, Event)
        assert_type(event.starts_at, datetime)
        assert_type(event.venue, str | None)
        assert_type(event.ticket_categories, tuple[TicketCategory, ...])
        assert_type(event.ticket_categories[0].price, Decimal)
    assert_type(client.events.retrieve("event"), Event)
    assert_type(client.cards.verify("SVC1.…"), CardVerification)
    keys = client.cards.keys()
    assert_type(keys, CardKeys)
    assert_type(keys.verify("SVC1.…", at=datetime.now(UTC)), TokenReading)
    assert_type(CardKeys.from_json(keys.to_json()).verify("SVC1.…").expires_at, datetime | None)


def webhooks(client: Gatepass) -> None:
    endpoints = client.webhook_endpoints
    made = endpoints.create(url="https://example.com", types=["ticket.activated"])
    assert_type(made, WebhookEndpoint)
    assert_type(made.secret, str | None)
    assert_type(endpoints.list(), Pages[WebhookEndpoint])
    assert_type(endpoints.retrieve(made.id), WebhookEndpoint)
    assert_type(endpoints.update(made.id, status="paused"), WebhookEndpoint)
    assert_type(endpoints.test(made.id), Delivery)
    assert_type(endpoints.rotate_secret(made.id, switch=True), WebhookEndpoint)
    assert_type(endpoints.deliveries(made.id, status="failed"), Pages[Delivery])
    assert_type(endpoints.delivery(made.id, "delivery"), DeliveryDetail)
    assert_type(endpoints.replay(made.id, since=datetime.now(UTC)), Replay)
    assert_type(endpoints.count_replay(made.id), int)
    assert_type(endpoints.replays(made.id), Pages[Replay])
    endpoints.delete(made.id)
    assert_type(client.webhook_events.list(after="cursor"), Pages[WebhookEvent])
    assert_type(described(client.webhooks.unwrap(b"{}", {"x-svc-signature": "…"}, "whsec_…")), str)


def described(event: WebhookEvent) -> str:
    """Every kind of message: the checkers know that there is no other."""
    match event:
        case TicketActivated():
            assert_type(event.data.activated_at, datetime)
            return event.data.card_number
        case TicketCancelled():
            return "used" if event.data.was_activated else "unused"
        case EventCancelled():
            return event.data.reason or ""
        case OtherEvent():
            assert_type(event.data, Mapping[str, Any])
            return event.type


def options() -> None:
    with Gatepass("svc_test_…", base_url="https://…", deadline=5, scan_deadline=2.5, max_retries=1) as client:
        assert_type(client, Gatepass)
        assert_type(client.with_options(scan_deadline=1), Gatepass)
        assert_type(client.is_sandbox, bool)
    Gatepass(http_client=httpx2.Client()).close()


async def asynchronous() -> None:
    async with AsyncGatepass(http_client=httpx2.AsyncClient()) as client:
        assert_type(client.with_options(deadline=1), AsyncGatepass)
        assert_type(await client.scans.create("event", card_number="SVC 1"), ScanResult)
        assert_type(await client.events.retrieve("event"), Event)
        assert_type(client.events.list(), AsyncPages[Event])
        assert_type(client.events.list().pages(), AsyncIterator[AsyncPage[Event]])
        assert_type(await client.events.list().first(), AsyncPage[Event])
        async for event in client.events.list():
            assert_type(event, Event)
        assert_type(await client.cards.verify("SVC1.…"), CardVerification)
        assert_type(await client.cards.keys(), CardKeys)
        assert_type(await client.webhook_endpoints.count_replay("endpoint"), int)
        assert_type(client.webhook_events.list(), AsyncPages[WebhookEvent])
        assert_type(client.webhooks.unwrap("{}", {}, "whsec_…"), WebhookEvent)
    await client.close()
