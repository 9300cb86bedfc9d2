"""Features of the fake alone: faults on demand, a record of scans, and the same ids in every run."""

import json
from datetime import UTC, datetime
from uuid import UUID

import httpx2
import pytest

from gatepass.api.responses import STATUS
from gatepass.base.errors import InvalidRequest
from gatepass.domain.events.countries import countries
from gatepass.domain.events.money import currencies, exponent
from gatepass.domain.events.time_zones import known_zones
from gatepass.domain.webhooks.url_policy import require_allowed
from gatepass_sdk import (
    SANDBOX_EVENT_ID,
    AlreadyUsed,
    APIConnectionError,
    AuthenticationError,
    BadRequest,
    EventCancelled,
    Gatepass,
    NewTicket,
    PermissionDenied,
    RateLimited,
    ServerError,
)
from gatepass_sdk.testing import FakeGatepass
from gatepass_sdk.testing._http import REFUSALS
from gatepass_sdk.testing._platform import codes
from tests.sdk.contract.request_fuzzer import URLS


@pytest.fixture
def fake() -> FakeGatepass:
    return FakeGatepass()


def test_a_lost_answer_is_found_again_by_the_retry(fake: FakeGatepass) -> None:
    card = fake.issue()
    fake.lose_next_answer()
    ticket = fake.client(live=True).scans.create(fake.event_id, token=card.token)
    assert ticket.replayed
    assert [scan.verdict for scan in fake.scans] == ["activated", "activated"]
    assert [scan.replayed for scan in fake.scans] == [False, True]
    assert len({scan.idempotency_key for scan in fake.scans}) == 1
    assert len(fake.messages) == 1


def test_without_a_retry_the_outcome_is_unknown_until_it_is_asked_for(fake: FakeGatepass) -> None:
    card, client = fake.issue(), fake.client(live=True, max_retries=0)
    fake.lose_next_answer()
    with pytest.raises(APIConnectionError, match="may have been activated") as lost:
        client.scans.create(fake.event_id, card_number=card.card_number)
    assert lost.value.outcome_unknown
    again = client.scans.create(fake.event_id, card_number=card.card_number, idempotency_key=lost.value.idempotency_key)
    assert again.replayed


@pytest.mark.parametrize(("status", "kind"), [(503, ServerError), (500, ServerError), (429, RateLimited)])
def test_refusals_pass_or_last(fake: FakeGatepass, status: int, kind: type[Exception]) -> None:
    client = fake.client()
    fake.refuse_next(status, times=2)
    assert client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP").tier == "vip"
    fake.refuse_next(status, times=100)
    with pytest.raises(kind):
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")
    assert len(fake.scans) == 1


async def test_offline_nothing_is_reached_and_nothing_happens(fake: FakeGatepass) -> None:
    client, async_client = fake.client(), fake.async_client()
    fake.go_offline()
    with pytest.raises(APIConnectionError, match="cannot be reached") as error:
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")
    with pytest.raises(APIConnectionError):
        await async_client.with_options(max_retries=1).scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")
    assert not error.value.outcome_unknown
    assert fake.scans == []
    fake.go_online()
    assert (await async_client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")).tier == "vip"


def test_keys_have_scopes_and_end(fake: FakeGatepass) -> None:
    key = fake.new_key(scopes=["events:read"])
    client = fake.client(api_key=key)
    assert client.is_sandbox
    assert client.events.retrieve(SANDBOX_EVENT_ID).title == "Sandbox Night"
    with pytest.raises(PermissionDenied):
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")
    fake.revoke_key(key)
    with pytest.raises(AuthenticationError):
        client.events.retrieve(SANDBOX_EVENT_ID)


def test_each_run_is_the_same() -> None:
    def run() -> tuple[object, ...]:
        with FakeGatepass(clock=lambda: datetime(2026, 5, 1, 20, tzinfo=UTC)) as fake:
            client = fake.client()
            made = client.webhook_endpoints.create(url="https://example.com", types=["ticket.activated"])
            client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP", idempotency_key="k")
            signed = fake.signed(fake.messages[0], made.secret or "")
            return (
                made,
                fake.issue(),
                fake.scans,
                fake.messages,
                signed,
                list(client.webhook_endpoints.deliveries(made.id)),
            )

    assert run() == run()


def test_ids_and_the_clock_can_be_given() -> None:
    names = iter(range(1, 100))
    at = datetime(2026, 5, 1, 20, tzinfo=UTC)
    with FakeGatepass(clock=lambda: at, new_id=lambda: UUID(int=next(names))) as fake:
        ticket = fake.client().scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
        assert ticket.request_id == f"req_{1:032x}"
        assert fake.scans[0].at == fake.messages[0].created_at == at


def test_things_happen_that_no_scan_does(fake: FakeGatepass) -> None:
    made = fake.client().webhook_endpoints.create(url="https://example.com", types=["event.cancelled"])
    event = fake.tell("event.cancelled", event_id=SANDBOX_EVENT_ID, cancelled_at="2026-05-01T20:00:00Z", reason="Storm")
    assert isinstance(event, EventCancelled)
    body, headers = fake.signed(event, made.secret or "")
    assert json.loads(body)["data"]["reason"] == "Storm"
    assert fake.client().webhooks.unwrap(body, headers, made.secret or "") == event
    assert [one.type for one in fake.client().webhook_endpoints.deliveries(made.id)] == ["event.cancelled"]


def test_a_card_can_be_changed_between_scans(fake: FakeGatepass) -> None:
    card, client = fake.issue(tier="vip", category_name="VIP"), fake.client(live=True)
    card.ticket_state = "cancelled"
    with pytest.raises(Exception, match="This ticket was cancelled"):
        client.scans.create(fake.event_id, token=card.token)
    card.ticket_state = "issued"
    assert client.scans.create(fake.event_id, token=card.token).tier == "vip"
    assert card.activated_at is not None
    with pytest.raises(AlreadyUsed):
        client.scans.create(fake.event_id, token=card.token)


def test_the_sandbox_and_the_live_side_do_not_meet(fake: FakeGatepass) -> None:
    card = fake.issue()
    assert fake.client().cards.verify(card.token).reason == "invalid_token"
    with pytest.raises(Exception, match="There is no such card"):
        fake.client().scans.create(SANDBOX_EVENT_ID, card_number=card.card_number)
    with pytest.raises(Exception, match="There is no such event"):
        fake.client(live=True).scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
    assert list(fake.client(live=True).webhook_events.list()) == []


def test_an_http_client_of_your_own_works_too(fake: FakeGatepass) -> None:
    with httpx2.Client(transport=fake.transport()) as http:
        client = Gatepass(fake.new_key(), base_url="https://anywhere.test/api/public/v1", http_client=http)
        assert client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP").tier == "vip"


def test_every_refusal_of_the_api_is_known_to_the_fake_with_its_status_and_sentence() -> None:
    for refusal, status in STATUS.items():
        if refusal.code in REFUSALS and not refusal.__bases__[0].__dict__.get("code"):
            assert REFUSALS[refusal.code] == (status, refusal.sentence()), refusal


def test_codes_of_countries_and_currencies_are_those_of_the_service() -> None:
    assert countries().keys() == codes.COUNTRIES
    assert currencies() == codes.CURRENCIES
    assert {code: exponent(code) for code in currencies()} == dict.fromkeys(currencies(), 2) | codes.DECIMAL_PLACES
    assert known_zones() == codes.time_zones()


def test_an_issued_card_and_its_ticket_are_there_for_a_platform_too(fake: FakeGatepass) -> None:
    card, client = fake.issue(tier="vip", category_name="VIP"), fake.client(live=True)
    assert client.cards.retrieve(str(card.card_id)).number == card.card_number
    (ticket,) = client.tickets.list(card_id=str(card.card_id))
    assert (ticket.id, ticket.category_name, ticket.state) == (str(card.ticket_id), "VIP", "issued")
    client.tickets.cancel(ticket.id, reason="refund")
    assert card.ticket_state == "cancelled"
    client.cards.revoke(ticket.card_id, reason="lost")
    assert card.status == "revoked"
    assert [message.type for message in fake.messages] == ["ticket.cancelled", "card.status_changed"]


def test_a_lost_answer_issues_no_second_ticket(fake: FakeGatepass) -> None:
    client = fake.client(live=True)
    (category, _) = client.events.retrieve(fake.event_id).ticket_categories
    fake.lose_next_answer(2)
    wanted: NewTicket = {"event_id": fake.event_id, "category_id": category.id, "holder": {"name": "Ada"}}
    (result,) = client.tickets.batch([wanted])
    assert [ticket.id for ticket in client.tickets.list(event_id=fake.event_id)] == [result.data and result.data.id]


def test_the_list_of_scans_goes_on_where_it_was_left(fake: FakeGatepass) -> None:
    client = fake.client(live=True)
    for _ in range(3):
        client.scans.create(fake.event_id, token=fake.issue().token)
    newest, *_, oldest = client.scans.list(event_id=fake.event_id)
    followed = list(client.scans.list(after=oldest.cursor, limit=1))
    assert [scan.id for scan in followed][-1] == newest.id
    assert len(followed) == 2
    assert client.scans.list(after=newest.cursor).first().next_cursor == newest.cursor


@pytest.mark.parametrize("allow_private", [True, False])
def test_addresses_are_judged_as_by_the_service(allow_private: bool) -> None:
    more = [
        "https://192.168.0.1",
        "https://10.0.0.1",
        "https://box.local",
        "https://[2001:db8::1]/",
        "https://intranet",
    ]
    more += ["https://8.8.8.8", "https://[2606:4700::1111]/", "https://example.com:8443/x", "https://example.com:80/"]
    more += ["https://224.0.0.1", "https://169.254.169.254/latest", "https://[::ffff:127.0.0.1]/", "https://a.corp"]
    for url in [*URLS, *more]:
        with FakeGatepass(allow_private=allow_private) as fake:
            assert _error_of_fake(fake, url) == _error_of_service(url, allow_private), url


def _error_of_fake(fake: FakeGatepass, url: str) -> str | None:
    try:
        fake.client().webhook_endpoints.create(url=url, types=["ticket.activated"])
    except BadRequest as error:
        return error.message
    return None


def _error_of_service(url: str, allow_private: bool) -> str | None:
    try:
        require_allowed(url, allow_private=allow_private)
    except InvalidRequest as error:
        return str(error)
    return None
