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
    Card,
    CardIssued,
    CardKeys,
    CardLink,
    CardReplaced,
    CardStatusChanged,
    CardSuspended,
    CardToken,
    CardTokenResult,
    CardUpdated,
    CardVerification,
    ChangedMeanwhile,
    Delivery,
    DeliveryDetail,
    Event,
    EventCancelled,
    EventDeleted,
    EventEnded,
    EventPublished,
    EventUpdated,
    ExternalIdTaken,
    Gatepass,
    GatepassError,
    Holder,
    HolderDetails,
    NewTicket,
    OtherEvent,
    Page,
    Pages,
    RecordedScan,
    Replay,
    ScanConflict,
    ScanDenied,
    ScanResult,
    Ticket,
    TicketActivated,
    TicketActivationUndone,
    TicketCancelled,
    TicketCategory,
    TicketIssued,
    TicketResult,
    TicketTransferred,
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


def events(client: Gatepass) -> None:
    made = client.events.create(title="Night", starts_at=datetime.now(UTC), ends_at=datetime.now(UTC), venue="Hall")
    assert_type(made, Event)
    assert_type(made.etag, str | None)
    assert_type(client.events.update(made.id, title="Day", venue=None, if_match=made.etag), Event)
    assert_type(client.events.publish(made.id), Event)
    assert_type(client.events.cancel(made.id, reason="Storm"), Event)
    assert_type(client.events.end(made.id, idempotency_key="k"), Event)
    assert_type(client.events.reopen(made.id, reason="It goes on"), Event)
    assert_type(client.events.list(status="draft"), Pages[Event])
    client.events.delete(made.id)
    category = client.ticket_categories.create(
        made.id, name="General", price=Decimal("25.50"), currency="EUR", quantity_total=100
    )
    assert_type(category, TicketCategory)
    assert_type(client.ticket_categories.update(category.id, price=20, if_match=category.etag), TicketCategory)
    client.ticket_categories.delete(category.id)


def platform(client: Gatepass, rows: Iterator[NewTicket]) -> Ticket | None:
    ada: HolderDetails = {"name": "Ada", "email": "ada@example.com"}
    card = client.cards.create(holder=ada, external_id="member-7")
    assert_type(card, Card)
    assert_type(card.holder, Holder | None)
    assert_type(client.cards.list(email="ada@example.com"), Pages[Card])
    assert_type(client.cards.update(card.id, holder={"locale": "fr"}, if_match=card.etag), Card)
    assert_type(client.cards.replace(card.id, reason="lost"), Card)
    assert_type(client.cards.link(card.id, replace=True), CardLink)
    assert_type(client.card_tokens.create(card.id, expires_at=datetime.now(UTC)), CardToken)
    assert_type(client.card_tokens.batch([card.id]), tuple[CardTokenResult, ...])
    assert_type(client.card_tokens.create_all([card.id]), Iterator[tuple[str, CardTokenResult]])
    for wanted, result in client.tickets.create_all(rows):
        assert_type(wanted, NewTicket)
        assert_type(result, TicketResult)
        assert_type(result.data, Ticket | None)
        assert_type(result.refusal, APIStatusError | None)
    assert_type(client.tickets.batch([{"event_id": "e", "category_id": "c"}])[0].code, str | None)
    assert_type(client.tickets.list(state="issued", updated_after=datetime.now(UTC)), Pages[Ticket])
    assert_type(client.scans.list(event_id="event", after="cursor"), Pages[RecordedScan])
    try:
        ticket = client.tickets.create(event_id="e", category_id="c", holder=ada, external_id="order-1")
        assert_type(client.tickets.transfer(ticket.id, holder={"name": "Bo"}), Ticket)
        return client.tickets.cancel(ticket.id, reason="refund")
    except (CardSuspended, ExternalIdTaken, ChangedMeanwhile) as error:
        assert_type(error.status, int)
    return None


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
        case TicketActivated() | TicketCancelled() | TicketIssued() | TicketTransferred() | TicketActivationUndone():
            return event.data.card_number
        case EventPublished() | EventUpdated():
            assert_type(event.data.ticket_categories[0].price, Decimal)
            return event.data.title
        case EventCancelled() | EventEnded() | EventDeleted():
            return event.data.event_id
        case CardIssued() | CardReplaced() | CardUpdated() | CardStatusChanged() | ScanDenied():
            return event.data.card_number
        case ScanConflict():
            return event.data.card_number or event.data.kind
        case OtherEvent():
            assert_type(event.data, Mapping[str, Any])
            return event.type


def activated(event: TicketActivated) -> None:
    assert_type(event.data.activated_at, datetime)
    assert_type(event.data.gate, str | None)


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
        assert_type(await client.tickets.cancel("ticket", reason="refund"), Ticket)
        async for _, result in client.tickets.create_all([{"event_id": "e", "category_id": "c"}]):
            assert_type(result.data, Ticket | None)
        assert_type(await client.webhook_endpoints.count_replay("endpoint"), int)
        assert_type(client.webhook_events.list(), AsyncPages[WebhookEvent])
        assert_type(client.webhooks.unwrap("{}", {}, "whsec_…"), WebhookEvent)
    await client.close()
