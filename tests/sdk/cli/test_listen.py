"""`gatepass-cli listen`: webhooks without a tunnel, with the bytes and the headers of the service."""

import signal
from collections.abc import Generator
from contextlib import contextmanager

from standardwebhooks import Webhook

from gatepass_sdk import SANDBOX_EVENT_ID, Gatepass
from tests.sdk.cli.receiver import LocalReceiver, ReceivedRequest
from tests.sdk.cli.terminal import Terminal

# Headers that differ for each delivery, or name the sender.
SENDER_HEADERS = {
    *("host", "user-agent", "accept", "accept-encoding", "connection", "x-svc-signature", "x-svc-delivery"),
    *("x-svc-attempt", "webhook-timestamp", "webhook-signature"),
}


@contextmanager
def calling(terminal: Terminal) -> Generator[Gatepass]:
    with Gatepass(terminal.key, base_url=terminal.base_url) as client:
        yield client


def test_what_is_forwarded_is_what_the_service_sends(sandbox: Terminal, receiver: LocalReceiver) -> None:
    with calling(sandbox) as client, sandbox.start("listen", "-f", receiver.url + "/forwarded", "--json") as listening:
        started = listening.wait_for(lambda one: "listening" in one)["listening"]
        types = ["ticket.activated", "scan.denied"]
        endpoint = client.webhook_endpoints.create(url=receiver.url + "/sent", types=types)
        receiver.answers = [500]
        for type in (*types, "webhook.ping"):
            assert sandbox.run("trigger", type, "--endpoint", endpoint.id).code == 0
        receiver.wait_until(lambda: len(receiver.accepted("/sent")) == 3)
        sent = {got.id: got for got in receiver.accepted("/sent")}
        receiver.wait_until(lambda: sent.keys() <= {got.id for got in receiver.accepted("/forwarded")})
        client.webhook_endpoints.delete(endpoint.id)

        forwarded = {got.id: got for got in receiver.accepted("/forwarded")}
        for id, got in sent.items():
            require_alike(forwarded[id], got)
            assert client.webhooks.unwrap(forwarded[id].body, forwarded[id].headers, started["secret"]).id == id
            Webhook(started["secret"]).verify(forwarded[id].body, forwarded[id].headers)
        require_retried(receiver)
        failed = listening.wait_for(lambda one: "forwarded" in one and not one["forwarded"]["succeeded"])["forwarded"]
        assert (failed["status"], failed["n"], failed["again_in"]) == (500, 1, 0.5)
        assert listening.end(signal.SIGINT) == 0


def require_alike(ours: ReceivedRequest, theirs: ReceivedRequest) -> None:
    assert ours.body == theirs.body
    assert ours.headers.keys() >= theirs.headers.keys()
    same = theirs.headers.keys() - SENDER_HEADERS
    assert {name: ours.headers[name] for name in same} == {name: theirs.headers[name] for name in same}


def require_retried(receiver: LocalReceiver) -> None:
    """The first message was refused once, and came again as the same delivery."""
    first, second = [got for got in receiver.received if got.path == "/forwarded"][:2]
    assert (first.status, second.status) == (500, 204)
    assert first.headers["x-svc-delivery"] == second.headers["x-svc-delivery"]
    assert (first.headers["x-svc-attempt"], second.headers["x-svc-attempt"]) == ("1", "2")


def test_a_killed_listener_goes_on_where_it_was(sandbox: Terminal, receiver: LocalReceiver) -> None:
    command = ("listen", "--forward-to", receiver.url + "/forwarded", "--types", "ticket.activated", "--json")
    with calling(sandbox) as client:

        def scan() -> None:
            client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VALID")

        with sandbox.start(*command) as listening:
            secret = listening.wait_for(lambda one: "listening" in one)["listening"]["secret"]
            scan()
            receiver.wait_until(lambda: len(receiver.accepted("/forwarded")) == 1)
            # It is marked as done before the next one is read; the receiver holds that one when the listener dies.
            receiver.unblocked.clear()
            for _ in range(3):
                scan()
            receiver.wait_until(lambda: len(receiver.received) == 2)
            assert listening.end(signal.SIGKILL) == -signal.SIGKILL
        scan()
        receiver.unblocked.set()
        with sandbox.start(*command) as listening:
            assert listening.wait_for(lambda one: "listening" in one)["listening"]["secret"] == secret
            receiver.wait_until(lambda: len(receiver.accepted("/forwarded")) == 5)
            assert listening.end(signal.SIGTERM) == 0
        listed = [message.id for message in client.webhook_events.list() if message.type == "ticket.activated"][-5:]
        assert [got.id for got in receiver.accepted("/forwarded")] == listed
        assert receiver.received[1].id == listed[1]


def test_what_was_is_shown_again_since_a_time(sandbox: Terminal) -> None:
    with calling(sandbox) as client:
        client.scans.create(SANDBOX_EVENT_ID, card_number="TEST_VIP")
        listed = [message.id for message in client.webhook_events.list()]
    wrong = sandbox.run("listen", "--after", "nonsense", "--json")
    assert (wrong.code, wrong.out, wrong.error["param"]) == (2, "", "after")
    with sandbox.start("listen", "--since", "1h", "--json") as listening:
        assert listening.wait_for(lambda one: "message" in one)["message"]["id"] == listed[0]
        listening.wait_for(lambda one: "message" in one and one["message"]["id"] == listed[-1])


def test_what_cannot_be_triggered_says_why(sandbox: Terminal, live: Terminal) -> None:
    live.key, sandbox_key = sandbox.key, live.key
    cancelled = live.run("trigger", "ticket.cancelled", "--json")
    assert (cancelled.code, "tickets cancel" in cancelled.error["error"]) == (2, True)
    live.key = sandbox_key
    on_live = live.run("trigger", "ticket.activated")
    assert (on_live.code, "sandbox" in on_live.err) == (2, True)
