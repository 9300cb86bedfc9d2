"""What a platform does, as sequences of calls in either mode. Each has the same results for every variant."""

from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypedDict
from uuid import uuid4

import pytest

from gatepass_sdk import Event, Gatepass, NewTicket, TicketCategory
from tests.sdk.contract.client_matrix import ClientVariant, eventually, seen

Observations = Generator[Any]
Sequence = Callable[[Gatepass, str], Observations]
STARTS, ENDS = datetime(2040, 5, 1, 18, tzinfo=UTC), datetime(2040, 5, 1, 23, tzinfo=UTC)


class Seat(TypedDict):
    event_id: str
    category_id: str


def an_event(client: Gatepass, *, places: int = 10) -> tuple[Event, TicketCategory]:
    """A published event with one category."""
    draft = client.events.create(title="Night", starts_at=STARTS, ends_at=ENDS)
    category = client.ticket_categories.create(
        draft.id, name="General", price=Decimal("25.50"), currency="EUR", quantity_total=places
    )
    return client.events.publish(draft.id), category


def an_event_goes_its_way(client: Gatepass, _unique: str) -> Observations:
    made = client.events.create(
        title="Night", starts_at=STARTS, ends_at=ENDS, time_zone="Europe/Brussels", venue="Hall", country="BE"
    )
    yield seen(lambda: made)
    yield seen(lambda: client.events.publish(made.id))
    yield seen(lambda: client.events.end(made.id))
    yield seen(lambda: client.events.reopen(made.id, reason="Late"))
    yield seen(
        lambda: client.ticket_categories.create(made.id, name="G", price=1.005, currency="EUR", quantity_total=1)
    )
    for currency, price in (("EUR", Decimal("25.50")), ("JPY", 1000), ("KWD", 1.234)):
        yield seen(
            lambda currency=currency, price=price: client.ticket_categories.create(
                made.id, name=currency, price=price, currency=currency, quantity_total=2, tier="vip"
            )
        )
    yield seen(lambda: [event for event in client.events.list(status="draft") if event.id == made.id])
    yield seen(lambda: client.events.publish(made.id))
    yield seen(lambda: client.events.publish(made.id))
    yield seen(lambda: client.events.update(made.id, venue=None, title="Day", starts_at=STARTS - timedelta(hours=1)))
    yield seen(lambda: client.events.update(made.id, ends_at=STARTS - timedelta(hours=2)))
    yield seen(lambda: client.events.delete(made.id))
    yield seen(lambda: client.events.end(made.id))
    yield seen(lambda: client.events.update(made.id, title="Night"))
    yield seen(lambda: client.events.cancel(made.id, reason="Storm"))
    yield seen(lambda: client.events.retrieve(made.id).status)


def a_draft_is_deleted(client: Gatepass, _unique: str) -> Observations:
    made = client.events.create(title="Night", starts_at=STARTS, ends_at=ENDS)
    yield seen(lambda: client.events.delete(made.id, if_match='"0"'))
    yield seen(lambda: client.events.delete(made.id, if_match=client.events.retrieve(made.id).etag))
    yield seen(lambda: client.events.retrieve(made.id))


def of_two_editors_one_is_told(client: Gatepass, unique: str) -> Observations:
    event, category = an_event(client)
    first = client.events.retrieve(event.id)
    assert first.etag == client.events.retrieve(event.id).etag
    changed = client.events.update(event.id, title="Mine", if_match=first.etag)
    yield seen(lambda: changed)
    yield seen(lambda: client.events.update(event.id, title="Yours", if_match=first.etag))
    yield seen(lambda: client.events.update(event.id, title="Yours", if_match=changed.etag).title)
    client.tickets.create(event_id=event.id, category_id=category.id, holder={"name": "Ada"})
    yield seen(lambda: client.ticket_categories.update(category.id, price=20, if_match=category.etag))
    yield seen(lambda: client.ticket_categories.update(category.id, price=30, if_match=category.etag))
    yield seen(lambda: client.ticket_categories.update(category.id, price=30, if_match="*"))
    card = client.cards.create(holder={"name": "Ada", "email": f"ada{unique}@example.com"})
    yield seen(lambda: client.cards.update(card.id, holder={"name": "Ada L."}, if_match=card.etag))
    yield seen(lambda: client.cards.update(card.id, holder={"name": "Ada"}, if_match=card.etag))
    yield seen(lambda: client.cards.update(card.id, if_match=card.etag))


def a_category_keeps_what_is_issued(client: Gatepass, _unique: str) -> Observations:
    event, category = an_event(client, places=2)
    for name in ("Ada", "Bo", "Cy"):
        common: Seat = {"event_id": event.id, "category_id": category.id}
        yield seen(lambda common=common, name=name: client.tickets.create(**common, holder={"name": name}))
    yield seen(lambda: client.ticket_categories.update(category.id, quantity_total=1))
    yield seen(lambda: client.ticket_categories.update(category.id, currency="USD"))
    yield seen(lambda: client.ticket_categories.update(category.id, name="All", quantity_total=3, tier="vip"))
    yield seen(lambda: client.ticket_categories.delete(category.id))
    for ticket in list(client.tickets.list(event_id=event.id)):
        client.tickets.cancel(ticket.id, reason="refund")
    yield seen(lambda: client.events.retrieve(event.id))
    yield seen(lambda: client.ticket_categories.delete(category.id))
    yield seen(lambda: client.ticket_categories.update(category.id, name="General"))
    yield seen(lambda: client.tickets.create(event_id=event.id, category_id=category.id, holder={"name": "Ada"}))
    yield seen(lambda: list(client.tickets.list(event_id=event.id)))


def a_person_has_one_card(client: Gatepass, unique: str) -> Observations:
    (event, category), (other, of_other) = an_event(client), an_event(client)
    email = f"ada{unique}@example.com"
    first = client.tickets.create(event_id=event.id, category_id=category.id, holder={"email": email, "locale": "fr"})
    second = client.tickets.create(
        event_id=other.id, category_id=of_other.id, holder={"name": "Ada", "email": f" {email.upper()} "}
    )
    companion = client.tickets.create(event_id=event.id, category_id=category.id, holder={"name": "Bo", "email": email})
    yield (first.card_id == second.card_id, first.card_id == companion.card_id)
    yield seen(lambda: list(client.cards.list(email=email)))
    yield seen(lambda: [len(page.data) for page in client.cards.list(email=email, limit=1).pages()])
    yield seen(lambda: client.cards.create(holder={"email": email}, external_id=f"member{unique}"))
    yield seen(lambda: client.cards.create(holder={"email": email}, external_id=f"member-2{unique}"))
    client.cards.suspend(first.card_id, reason="lost")
    yield seen(lambda: client.cards.create(holder={"email": email}))
    yield seen(lambda: client.tickets.create(event_id=event.id, category_id=category.id, holder={"email": email}))
    client.cards.revoke(first.card_id, reason="stolen")
    yield seen(lambda: client.cards.create(holder={"name": "Ada", "email": email}))
    yield seen(lambda: [card.status for card in client.cards.list(email=email)])


def a_card_lives(client: Gatepass, unique: str) -> Observations:
    made = client.cards.create(holder={"name": "Ada", "email": f"ada{unique}@example.com"}, external_id=f"m{unique}")
    other = client.cards.create(holder={"name": "Bo", "email": f"bo{unique}@example.com"})
    yield seen(lambda: client.cards.create(number=made.number))
    yield seen(lambda: client.cards.create(number="SVC 1234 5678 9012"))
    yield seen(lambda: list(client.cards.list(number=made.number.lower().replace(" ", "-"))))
    yield seen(lambda: list(client.cards.list(number=made.number.removeprefix("SVC "))))
    yield seen(lambda: list(client.cards.list(external_id=f"m{unique}", email="other@example.com")))
    yield seen(lambda: client.cards.update(made.id, holder={"email": f"bo{unique}@example.com"}))
    yield seen(lambda: client.cards.update(made.id, holder={"email": f"cy{unique}@example.com", "locale": "nl-BE"}))
    yield seen(lambda: client.cards.update(other.id, holder=None))
    yield seen(lambda: client.cards.update(other.id, holder={"locale": "fr"}))
    for move in ("resume", "suspend", "suspend", "resume"):
        yield seen(lambda move=move: getattr(client.cards, move)(made.id, reason="lost"))
    new = client.cards.replace(made.id, reason="lost")
    yield seen(lambda: new)
    yield seen(lambda: client.cards.retrieve(made.id))
    yield seen(lambda: client.cards.replace(made.id, reason="lost"))
    yield seen(lambda: client.cards.update(made.id, holder={"name": "Ada"}))
    yield seen(lambda: [card.id == new.id for card in client.cards.list(external_id=f"m{unique}")])


def tokens_are_signed(client: Gatepass, _unique: str) -> Observations:
    good, bad = client.cards.create(), client.cards.create()
    client.cards.suspend(bad.id, reason="lost")
    token = client.card_tokens.create(good.id)
    yield seen(lambda: token)
    yield (client.cards.verify(token.token).valid, client.cards.keys().verify(token.token).valid)
    assert abs(token.expires_at - datetime.now(UTC) - timedelta(hours=24)) < timedelta(minutes=1)
    yield seen(lambda: client.card_tokens.create(bad.id))
    yield seen(lambda: client.card_tokens.batch([good.id, bad.id, "x", str(uuid4()), good.id]))
    yield seen(lambda: list(client.card_tokens.create_all([good.id], expires_at=datetime.now(UTC) + timedelta(days=1))))
    yield seen(lambda: client.card_tokens.create(good.id, expires_at=datetime.now(UTC) - timedelta(days=1)))
    yield seen(lambda: client.card_tokens.batch([good.id], expires_at=datetime.now(UTC) + timedelta(days=401)))


def a_card_has_a_link(client: Gatepass, _unique: str) -> Observations:
    card, bad = client.cards.create(), client.cards.create()
    first, again = client.cards.link(card.id), uuid4().hex
    assert "/c/" in first.url
    assert first.url not in repr(first)
    yield [client.cards.link(card.id) == first for _ in range(2)]
    second = client.cards.link(card.id, replace=True, idempotency_key=again)
    yield second == first
    yield client.cards.link(card.id) == second == client.cards.link(card.id, replace=True, idempotency_key=again)
    client.cards.suspend(card.id, reason="lost")
    yield client.cards.link(card.id) == second
    client.cards.revoke(bad.id, reason="lost")
    for wrong in (bad.id, "x", str(uuid4())):
        yield seen(lambda wrong=wrong: client.cards.link(wrong))


def a_batch_harms_no_other(client: Gatepass, unique: str) -> Observations:
    event, category = an_event(client, places=3)
    card = client.cards.create()
    common: Seat = {"event_id": event.id, "category_id": category.id}
    wanted: list[NewTicket] = [
        {**common, "card_id": card.id, "external_id": f"1{unique}"},
        {**common, "card_id": card.id, "external_id": f"2{unique}"},
        {**common, "card_number": card.number, "external_id": f"1{unique}"},
        {**common, "card_id": card.id, "external_id": f"1{unique}"},
        {**common, "holder": {"name": "Ada"}, "card_id": card.id},
        {**common, "holder": {"email": "nobody"}},
        {**common, "event_id": str(uuid4()), "holder": {"name": "Ada"}},
        {**common, "category_id": "x", "holder": {"name": "Ada"}},
        *({**common, "holder": {"name": name}} for name in ("Ada", "Bo", "Cy")),
    ]
    yield seen(lambda: client.tickets.batch(wanted))
    yield seen(lambda: [(result.status, type(result.refusal)) for _, result in client.tickets.create_all(wanted)])
    yield seen(lambda: client.events.retrieve(event.id).ticket_categories)
    yield seen(lambda: client.tickets.batch([]))


def a_ticket_goes_its_way(client: Gatepass, unique: str) -> Observations:
    event, category = an_event(client)
    ada, bo = f"ada{unique}@example.com", f"bo{unique}@example.com"
    common: Seat = {"event_id": event.id, "category_id": category.id}
    ticket = client.tickets.create(**common, holder={"email": ada}, external_id=f"order{unique}")
    yield seen(lambda: ticket)
    yield seen(lambda: client.tickets.create(**common, holder={"email": ada.upper()}, external_id=f"order{unique}"))
    yield seen(lambda: client.tickets.create(**common, holder={"email": bo}, external_id=f"order{unique}"))
    yield seen(lambda: client.tickets.transfer(ticket.id, holder={"email": ada}))
    yield seen(lambda: client.tickets.transfer(ticket.id, card_id=ticket.card_id))
    moved = client.tickets.transfer(ticket.id, holder={"name": "Bo", "email": bo})
    yield (moved.card_id != ticket.card_id, moved.external_id == ticket.external_id)
    yield seen(lambda: client.scans.create(event.id, card_number=ticket.card_number))
    yield seen(lambda: client.scans.create(event.id, card_number=moved.card_number, gate="North", scanner_id="s"))
    yield seen(lambda: client.tickets.retrieve(ticket.id))
    yield seen(lambda: client.tickets.transfer(ticket.id, holder={"email": ada}))
    yield seen(lambda: client.tickets.cancel(ticket.id, reason=" refund "))
    yield seen(lambda: client.tickets.cancel(ticket.id, reason="refund"))
    yield seen(lambda: client.tickets.transfer(ticket.id, holder={"email": ada}))
    yield seen(lambda: client.scans.create(event.id, card_number=moved.card_number))
    yield seen(lambda: client.tickets.create(**common, card_id=moved.card_id))
    listed: list[dict[str, Any]] = [{"state": "issued"}, {"external_id": f"order{unique}"}, {"limit": 1}]
    for filters in listed:
        yield seen(lambda filters=filters: list(client.tickets.list(event_id=event.id, **filters)))
    yield seen(lambda: list(client.tickets.list(event_id=event.id, updated_after=datetime.now(UTC))))
    scanned: list[dict[str, Any]] = [{"event_id": event.id}, {"card_id": moved.card_id}, {"ticket_id": ticket.id}]
    for which in scanned:
        yield seen(lambda which=which: list(client.scans.list(**which)))
    yield seen(lambda: [len(page.data) for page in client.scans.list(event_id=event.id, limit=1).pages()])


def a_retry_is_done_once(client: Gatepass, unique: str) -> Observations:
    event, category = an_event(client, places=1)
    common: Seat = {"event_id": event.id, "category_id": category.id}
    key, refused = str(uuid4()), str(uuid4())
    first = client.tickets.create(**common, holder={"name": "Ada"}, idempotency_key=key)
    again = client.tickets.create(**common, holder={"name": "Ada"}, idempotency_key=key)
    yield first.id == again.id
    yield seen(lambda: client.tickets.create(**common, holder={"name": "Bo"}, idempotency_key=key))
    yield seen(lambda: client.events.end(event.id, idempotency_key=key))
    yield seen(lambda: client.scans.create(event.id, card_number=first.card_number, idempotency_key=key))
    yield seen(lambda: client.tickets.create(**common, holder={"name": "Bo"}, idempotency_key=refused))
    client.tickets.cancel(first.id, reason="refund")
    yield seen(lambda: client.tickets.create(**common, holder={"name": "Bo"}, idempotency_key=refused))
    yield seen(lambda: client.tickets.create(**common, holder={"name": "Ada"}, idempotency_key=key))
    yield seen(lambda: client.cards.create(external_id=f"m{unique}", idempotency_key="k" * 256))


def a_cancelled_event_takes_its_tickets_with_it(client: Gatepass, _unique: str) -> Observations:
    event, category = an_event(client)
    common: Seat = {"event_id": event.id, "category_id": category.id}
    tickets = [client.tickets.create(**common, holder={"name": name}) for name in ("Ada", "Bo")]
    client.scans.create(event.id, card_number=tickets[0].card_number)
    yield seen(lambda: client.events.cancel(event.id, reason=" "))
    yield seen(lambda: client.events.cancel(event.id, reason=" Storm "))
    eventually(lambda: all(ticket.state == "cancelled" for ticket in client.tickets.list(event_id=event.id)))
    yield seen(lambda: client.events.retrieve(event.id))
    yield seen(lambda: client.tickets.create(**common, holder={"name": "Cy"}))
    yield seen(lambda: client.ticket_categories.update(category.id, price=1))
    yield seen(lambda: client.events.cancel(event.id, reason="Storm"))


SEQUENCES: list[Sequence] = [
    an_event_goes_its_way,
    a_draft_is_deleted,
    of_two_editors_one_is_told,
    a_category_keeps_what_is_issued,
    a_person_has_one_card,
    a_card_lives,
    tokens_are_signed,
    a_card_has_a_link,
    a_batch_harms_no_other,
    a_ticket_goes_its_way,
    a_retry_is_done_once,
    a_cancelled_event_takes_its_tickets_with_it,
]


@pytest.mark.parametrize("key", ["live", "other_sandbox"])
@pytest.mark.parametrize("sequence", SEQUENCES, ids=lambda sequence: sequence.__name__)
def test_a_sequence_is_the_same_for_every_variant(variants: list[ClientVariant], sequence: Sequence, key: str) -> None:
    first, *others = [list(sequence(variant.client(key), f"~{uuid4().hex[:8]}")) for variant in variants]
    assert len(first) > 2
    for variant, other in zip(variants[1:], others, strict=True):
        assert other == first, variant.name
