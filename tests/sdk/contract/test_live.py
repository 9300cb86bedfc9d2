"""Live keys: a ticket is activated once, and every refusal has its reason. The same holds for the cards of the fake."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from gatepass_sdk import AlreadyUsed, CardKeys, Expired, Gatepass, NotFound, ValidationError
from gatepass_sdk.testing import FakeGatepass
from tests.sdk.contract.client_matrix import ClientVariant, LoopThread, fake_variants, seen
from tests.sdk.stack import Stack


@pytest.mark.parametrize("how", ["card_number", "token"])
def test_a_ticket_is_activated_once(variant: ClientVariant, how: str) -> None:
    card, client = variant.take_card(), variant.client("live")
    shown: Any = {how: getattr(card, how)}
    before = datetime.now(UTC)
    ticket = client.scans.create(variant.event_id, **shown, gate="North 2", scanner_id="scanner-7")
    assert (ticket.tier, ticket.category_name) == (card.tier, card.category_name)
    with pytest.raises(AlreadyUsed) as refused:
        client.scans.create(variant.event_id, **shown)
    assert (refused.value.status, refused.value.code) == (409, "already_activated")
    assert refused.value.message == "This ticket has already been activated."
    details = refused.value.details
    assert (details["gate"], details["scanner_id"]) == ("North 2", "scanner-7")
    assert abs(datetime.fromisoformat(details["activated_at"]) - before) < timedelta(minutes=1)
    assert refused.value.outcome_unknown is False


def test_a_retry_with_the_key_of_a_scan_gets_the_first_answer(variant: ClientVariant) -> None:
    card, client, key = variant.take_card(), variant.client("live"), str(uuid4())
    first = client.scans.create(variant.event_id, token=card.token, idempotency_key=key)
    again = client.scans.create(variant.event_id, token=card.token, idempotency_key=key)
    assert (first.replayed, again.replayed) == (False, True)
    assert (first.ticket_id, first.raw) == (again.ticket_id, again.raw)
    assert first.request_id != again.request_id
    with pytest.raises(ValidationError) as reused:
        client.scans.create(variant.event_id, card_number=variant.take_card().card_number, idempotency_key=key)
    assert reused.value.code == "idempotency_key_reused"


def test_a_number_may_be_typed_with_other_spaces_and_case(variant: ClientVariant) -> None:
    card = variant.take_card()
    typed = f" {card.card_number.lower().replace(' ', '-')} "
    assert variant.client("live").scans.create(variant.event_id, card_number=typed).tier == card.tier


def test_a_token_is_judged_online_and_offline_alike(variant: ClientVariant) -> None:
    card, client = variant.take_card(), variant.client("live")
    online, keys = client.cards.verify(card.token), client.cards.keys()
    kept = CardKeys.from_json(keys.to_json())
    offline = kept.verify(card.token)
    assert (online.valid, offline.valid, kept.is_sandbox) == (True, True, False)
    assert online.card_number == offline.card_number == card.card_number
    assert (online.status, online.reason, online.expired) == ("active", None, False)
    head, _, signature = card.token.rpartition(".")
    forged = f"{head}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"
    assert client.cards.verify(forged).reason == keys.verify(forged).reason == "invalid_token"
    with pytest.raises(Exception, match="The card token is not valid"):
        client.scans.create(variant.event_id, token=forged)


def test_live_pages_add_up(variant: ClientVariant) -> None:
    client = variant.client("live")
    whole = [event.id for event in client.events.list()]
    pages = list(client.events.list(limit=1).pages())
    assert len(whole) >= 3
    assert [event.id for page in pages for event in page.data] == [event.id for event in client.events.list(limit=2)]
    assert [event.id for page in pages for event in page.data] == whole
    assert [page.has_more for page in pages] == [True] * (len(whole) - 1) + [False]
    assert [event.id for event in client.events.list(cursor=pages[0].next_cursor)] == whole[1:]


class RefusalCases:
    """Cards that are refused: those of the demo on the service, and equal ones that the fake issues."""

    def __init__(self, stack: Stack, fake: FakeGatepass, *, is_fake: bool) -> None:
        cards, events = stack.demo["cards"], stack.demo["events"]
        self.event_id = fake.event_id if is_fake else stack.event_id
        self.draft = fake.add_event(status="draft")["id"] if is_fake else events["draft"]
        if is_fake:
            past = datetime.now(UTC) - timedelta(days=1)
            self.numbers = {name: fake.issue(status=name).card_number for name in ("suspended", "revoked")}
            without = fake.issue()
            without.ticket_state = None
            self.numbers["no_ticket"] = without.card_number
            self.expired = fake.issue(expires_at=past).token
            self.suspended = fake.issue(status="suspended").token
        else:
            self.numbers = {name: cards[name]["card_number"] for name in ("suspended", "revoked", "no_ticket")}
            self.expired, self.suspended = cards["expired_token"]["token"], cards["suspended"]["token"]

    def collected(self, client: Gatepass) -> list[Any]:
        scan = client.scans.create
        return [
            *(seen(lambda number=number: scan(self.event_id, card_number=number)) for number in self.numbers.values()),
            seen(lambda: scan(self.event_id, token=self.expired)),
            seen(lambda: scan(self.draft, card_number=self.numbers["revoked"])),
            seen(lambda: scan(str(uuid4()), card_number=self.numbers["revoked"])),
            seen(lambda: scan(self.event_id, card_number="SVC 0000 0000 0000")),
            seen(lambda: scan(self.event_id, token="SVC1.TEST_VALID.0.0")),
            seen(lambda: client.cards.verify(self.expired)),
            seen(lambda: client.cards.verify(self.suspended)),
            seen(lambda: client.events.retrieve(self.draft).status),
        ]


def test_live_refusals_are_the_same_for_every_variant(
    stack: Stack, service_variants: list[ClientVariant], fake: FakeGatepass, loop: LoopThread
) -> None:
    real, faked = RefusalCases(stack, fake, is_fake=False), RefusalCases(stack, fake, is_fake=True)
    first, *others = [real.collected(variant.client("live")) for variant in service_variants]
    others += [faked.collected(variant.client("live")) for variant in fake_variants(fake, loop)]
    assert [word in str(answer) for word, answer in zip(EXPECTED, first, strict=True)] == [True] * len(EXPECTED), first
    for other in others:
        assert other == first


EXPECTED = [
    "card_suspended",
    "card_revoked",
    "ticket_not_found",
    "'Expired'",
    "event_not_active",
    "event_not_found",
    "card_not_found",
    "invalid_token",
    "'expired'",
    "card_suspended",
    "draft",
]


def test_an_offline_token_that_has_expired_was_good_when_it_was_shown(
    variant: ClientVariant, stack: Stack, fake: FakeGatepass
) -> None:
    is_fake = variant.name.startswith("fake")
    token = (
        fake.issue(expires_at=datetime.now(UTC) - timedelta(minutes=5)).token
        if is_fake
        else stack.demo["cards"]["expired_token"]["token"]
    )
    client, keys = variant.client("live"), variant.client("live").cards.keys()
    reading = keys.verify(token)
    assert reading.expired
    assert reading.expires_at
    assert keys.verify(token, at=reading.expires_at - timedelta(seconds=1)).valid
    with pytest.raises(Expired) as refused:
        client.scans.create(variant.event_id, token=token)
    assert refused.value.status == 410


def test_another_organization_meets_nothing_of_ours(stack: Stack, service_variants: list[ClientVariant]) -> None:
    for variant in service_variants:
        stranger, card = variant.client("other_organization"), variant.take_card()
        with pytest.raises(NotFound):
            stranger.events.retrieve(variant.event_id)
        assert stranger.cards.verify(card.token).reason == "invalid_token"
        with pytest.raises(NotFound, match="There is no such event"):
            stranger.scans.create(variant.event_id, card_number=card.card_number)
        assert variant.client("live").scans.create(variant.event_id, card_number=card.card_number).tier == card.tier
