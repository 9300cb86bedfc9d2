"""Sequences of calls, in which a call depends on those before it. A sequence has the same results for every variant."""

import json
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from gatepass_sdk import SANDBOX_EVENT_ID, Gatepass
from tests.receivers import Receiver, receiving
from tests.sdk.contract.client_matrix import ClientVariant, LoopThread, endpoint, eventually, seen

Observations = Generator[Any]
Sequence = Callable[[Gatepass, str], Observations]


@pytest.fixture
def receiver(loop: LoopThread) -> Generator[Receiver]:
    """The receiver that the service's worker posts to."""
    server = receiving()
    yield loop.run(server.__aenter__())
    loop.run(server.__aexit__(None, None, None))


def a_retry_gets_the_first_answer(client: Gatepass, _url: str) -> Observations:
    key = str(uuid4())
    for card in ("TEST_VIP", "TEST_VIP", "TEST_VALID"):
        yield seen(lambda card=card: client.scans.create(SANDBOX_EVENT_ID, card_number=card, idempotency_key=key))
    other = str(uuid4())
    for gate in ("A", "A", "B"):
        yield seen(
            lambda gate=gate: client.scans.create(
                SANDBOX_EVENT_ID, card_number="TEST_REVOKED", gate=gate, idempotency_key=other
            )
        )


def a_refused_request_keeps_no_answer(client: Gatepass, _url: str) -> Observations:
    key = str(uuid4())
    yield seen(lambda: client.scans.create(SANDBOX_EVENT_ID, token="x", idempotency_key=key))
    yield seen(lambda: client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP", idempotency_key=key))


def an_endpoint_lives(client: Gatepass, url: str) -> Observations:
    hooks = client.webhook_endpoints
    made = hooks.create(url=url, types=["scan.denied", "ticket.activated", "scan.denied"], description="First")
    yield seen(lambda: made)
    assert made.secret
    assert "secret" not in hooks.retrieve(made.id).raw
    yield seen(lambda: hooks.retrieve(made.id))
    yield seen(lambda: [one for one in hooks.list() if one.id == made.id])
    yield seen(lambda: hooks.update(made.id, status="paused"))
    yield seen(lambda: hooks.update(made.id, status="paused", url=url + "/other"))
    yield seen(lambda: hooks.test(made.id))
    yield seen(lambda: hooks.update(made.id, status="active", types=["event.cancelled"], description="Second"))
    yield seen(lambda: hooks.update(made.id))
    yield seen(lambda: hooks.update(made.id, url="nowhere"))
    yield seen(lambda: hooks.delivery(made.id, str(uuid4())))
    yield seen(lambda: hooks.delivery(made.id, "x"))
    yield seen(lambda: hooks.delete(made.id))
    yield seen(lambda: hooks.retrieve(made.id))
    yield seen(lambda: hooks.delete(made.id))


def a_secret_is_rotated(client: Gatepass, url: str) -> Observations:
    with endpoint(client, url) as made:
        rotate = client.webhook_endpoints.rotate_secret
        yield seen(lambda: rotate(made.id, switch=True))
        first, second = rotate(made.id), rotate(made.id)
        assert len({made.secret, first.secret, second.secret}) == 3
        assert second.rotation
        assert timedelta(hours=47) < second.rotation.retires_at - datetime.now(UTC) < timedelta(hours=49)
        yield seen(lambda: second)
        yield seen(lambda: rotate(made.id, switch=True))
        yield seen(lambda: rotate(made.id, switch=True))
        yield seen(lambda: rotate(made.id))


def a_message_is_delivered_and_sent_again(client: Gatepass, url: str) -> Observations:
    hooks = client.webhook_endpoints
    with endpoint(client, url, "ticket.activated", "scan.denied") as made:
        for card in ("TEST_VALID", "TEST_USED", "TEST_VIP"):
            seen(lambda card=card: client.scans.create(SANDBOX_EVENT_ID, card_number=card, gate="G"))
        ping = hooks.test(made.id)
        yield seen(lambda: ping)
        eventually(lambda: all(one.status == "delivered" for one in hooks.deliveries(made.id)))
        yield seen(lambda: [(one.type, one.status, one.attempts, one.last_status) for one in hooks.deliveries(made.id)])
        yield seen(lambda: hooks.delivery(made.id, ping.id).body)
        yield seen(lambda: [one.type for one in hooks.deliveries(made.id, type="scan.denied")])
        yield seen(lambda: list(hooks.deliveries(made.id, status="failed")))
        yield seen(lambda: [len(page.data) for page in hooks.deliveries(made.id, limit=3).pages()])
        detail = hooks.delivery(made.id, next(iter(hooks.deliveries(made.id, type="scan.denied"))).id)
        yield seen(lambda: json.loads(detail.body or ""))
        yield seen(lambda: [(attempt.n, attempt.status, attempt.error) for attempt in detail.attempts_made])
        yield from _sent_again(client, made.id, detail.id)


def _sent_again(client: Gatepass, endpoint_id: str, delivery_id: str) -> Observations:
    hooks = client.webhook_endpoints
    yield seen(lambda: hooks.count_replay(endpoint_id))
    yield seen(lambda: hooks.count_replay(endpoint_id, types=["scan.denied"]))
    yield seen(lambda: hooks.count_replay(endpoint_id, statuses=["failed"]))
    yield seen(lambda: hooks.replay(endpoint_id, delivery_id=delivery_id))
    yield seen(lambda: hooks.replay(endpoint_id, types=["ticket.activated"], statuses=["delivered"]))
    yield seen(lambda: hooks.replay(endpoint_id, delivery_id=str(uuid4())))
    eventually(lambda: all(one.status == "done" for one in hooks.replays(endpoint_id)))
    yield seen(lambda: list(hooks.replays(endpoint_id)))
    yield seen(lambda: sum(one.replay_id is not None for one in hooks.deliveries(endpoint_id)))


def what_is_held_goes_out_later(client: Gatepass, url: str) -> Observations:
    hooks = client.webhook_endpoints
    with endpoint(client, url) as made:
        hooks.update(made.id, status="paused")
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")
        (held,) = hooks.deliveries(made.id)
        yield seen(lambda: held)
        yield seen(lambda: hooks.delivery(made.id, held.id))
        yield seen(lambda: hooks.replay(made.id, delivery_id=held.id))
        hooks.update(made.id, status="active")
        eventually(lambda: hooks.delivery(made.id, held.id).status == "delivered")
        yield seen(lambda: len(list(hooks.deliveries(made.id, status="delivered"))))


def the_feed_goes_on_where_it_was_left(client: Gatepass, _url: str) -> Observations:
    (*_, last) = client.webhook_events.list().pages()
    mark = last.next_cursor
    yield seen(lambda: list(client.webhook_events.list(after=mark)))
    for card in ("TEST_VALID", "TEST_VIP", "TEST_USED", "TEST_VALID"):
        seen(lambda card=card: client.scans.create(SANDBOX_EVENT_ID, card_number=card))
    eventually(lambda: len(list(client.webhook_events.list(after=mark))) == 3)
    yield seen(lambda: list(client.webhook_events.list(after=mark)))
    yield seen(
        lambda: [(len(page.data), page.has_more) for page in client.webhook_events.list(after=mark, limit=2).pages()]
    )
    first, second = client.webhook_events.list(after=mark, limit=2).pages()
    yield seen(lambda: [message.raw for message in client.webhook_events.list(after=first.next_cursor)])
    yield seen(lambda: client.webhook_events.list(after=second.next_cursor).first().data)


def seventeen_endpoints_are_one_too_many(client: Gatepass, url: str) -> Observations:
    hooks = client.webhook_endpoints
    there = len(list(hooks.list()))
    made = [hooks.create(url=f"{url}/{n}", types=["ticket.activated"]) for n in range(16 - there)]
    yield seen(lambda: hooks.create(url=url, types=["ticket.activated"]))
    yield seen(lambda: [len(page.data) for page in hooks.list(limit=5).pages()])
    for one in made:
        hooks.delete(one.id)


SEQUENCES: list[Sequence] = [
    a_retry_gets_the_first_answer,
    a_refused_request_keeps_no_answer,
    an_endpoint_lives,
    a_secret_is_rotated,
    a_message_is_delivered_and_sent_again,
    what_is_held_goes_out_later,
    the_feed_goes_on_where_it_was_left,
    seventeen_endpoints_are_one_too_many,
]


@pytest.mark.parametrize("sequence", SEQUENCES, ids=lambda sequence: sequence.__name__)
def test_a_sequence_is_the_same_for_every_variant(
    variants: list[ClientVariant], receiver: Receiver, sequence: Sequence
) -> None:
    first, *others = [list(sequence(variant.client(), receiver.url())) for variant in variants]
    assert first
    for variant, other in zip(variants[1:], others, strict=True):
        assert other == first, variant.name
