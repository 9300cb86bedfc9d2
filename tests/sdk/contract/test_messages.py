"""Messages that the real worker delivered are unwrapped, and the fake signs as the worker does."""

import json
from collections.abc import Generator

import pytest

from gatepass_sdk import SANDBOX_EVENT_ID, Gatepass, OtherEvent, TicketActivated, WebhookVerificationError
from gatepass_sdk.testing import FakeGatepass
from tests.receivers import Received, Receiver, receiving
from tests.sdk.contract.client_matrix import ClientVariant, LoopThread, endpoint, normalized


@pytest.fixture
def receiver(loop: LoopThread) -> Generator[Receiver]:
    server = receiving()
    yield loop.run(server.__aenter__())
    loop.run(server.__aexit__(None, None, None))


def test_a_delivered_message_is_believed_with_its_secret_and_no_other(
    service_variants: list[ClientVariant], receiver: Receiver, loop: LoopThread
) -> None:
    for count, variant in enumerate(service_variants, start=1):
        client = variant.client()
        with endpoint(client, receiver.url()) as made:
            client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")
            received = loop.run(receiver.wait(count))[-1]
        event = client.webhooks.unwrap(received.body, received.headers, made.secret)
        assert isinstance(event, TicketActivated)
        assert event.organization_id == variant.organization_id
        assert (event.data.card_number, event.data.event_id) == ("TEST_VIP", SANDBOX_EVENT_ID)
        assert event.raw == received.json()
        with pytest.raises(WebhookVerificationError):
            client.webhooks.unwrap(received.body, received.headers, "whsec_" + "A" * 44)
        with pytest.raises(WebhookVerificationError):
            client.webhooks.unwrap(received.body + b" ", received.headers, made.secret)


def test_while_a_secret_is_rotated_both_are_good(
    service_variants: list[ClientVariant], receiver: Receiver, loop: LoopThread
) -> None:
    client = service_variants[0].client()
    with endpoint(client, receiver.url()) as made:
        new = client.webhook_endpoints.rotate_secret(made.id).secret
        assert made.secret
        assert new
        client.webhook_endpoints.test(made.id)
        loop.run(receiver.wait(1))
        client.webhook_endpoints.rotate_secret(made.id, switch=True)
        client.webhook_endpoints.test(made.id)
        received = loop.run(receiver.wait(2))
    for message in received:
        for secret in (made.secret, new):
            assert isinstance(client.webhooks.unwrap(message.body, message.headers, secret), OtherEvent)


def test_the_fake_signs_as_the_worker_does(
    service_variants: list[ClientVariant], fake: FakeGatepass, receiver: Receiver, loop: LoopThread
) -> None:
    real = _delivered(service_variants[0].client(), receiver, loop)
    client = fake.client()
    client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
    secret = client.webhook_endpoints.create(url=receiver.url(), types=["ticket.activated"]).secret
    assert secret
    body, headers = fake.signed(fake.messages[0], secret)
    of_http = {"host", "accept", "accept-encoding", "user-agent", "content-length", "connection"}
    assert set(headers) == set(real.headers) - of_http
    assert headers["x-svc-event"] == real.headers["x-svc-event"]
    assert normalized(json.loads(body)) == normalized(real.json())
    assert isinstance(client.webhooks.unwrap(body, headers, secret), TicketActivated)


def test_the_fake_signs_with_two_secrets_as_the_worker_does(
    service_variants: list[ClientVariant], fake: FakeGatepass, receiver: Receiver, loop: LoopThread
) -> None:
    real = _delivered(service_variants[0].client(), receiver, loop, rotating=True)
    client = fake.client()
    client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
    made = client.webhook_endpoints.create(url=receiver.url(), types=["ticket.activated"])
    new = client.webhook_endpoints.rotate_secret(made.id).secret
    assert made.secret
    assert new
    body, headers = fake.signed(fake.messages[0], made.secret, next_secret=new)
    assert set(headers) <= set(real.headers)
    assert len(headers["webhook-signature"].split()) == len(real.headers["webhook-signature"].split()) == 2
    for secret in (made.secret, new):
        client.webhooks.unwrap(body, headers, secret)


def _delivered(client: Gatepass, receiver: Receiver, loop: LoopThread, *, rotating: bool = False) -> Received:
    with endpoint(client, receiver.url()) as made:
        if rotating:
            client.webhook_endpoints.rotate_secret(made.id)
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")
        return loop.run(receiver.wait(1))[0]
