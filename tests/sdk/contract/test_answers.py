"""Single calls: the service and the fake answer both clients with the same results, errors and sentences."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gatepass_sdk import SANDBOX_EVENT_ID, Gatepass
from tests.sdk.contract.client_matrix import ClientVariant, seen

ClientCall = Callable[[Gatepass], Any]
UNKNOWN = "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e10"
NOW = datetime.now(UTC)
E = SANDBOX_EVENT_ID
CARDS = ["TEST_VALID", "TEST_VIP", "TEST_USED", "TEST_EXPIRED", "TEST_REVOKED"]
HOOK = "https://example.com/hook"
TYPES = ["ticket.activated"]

# The call, and a text that its result must contain: the type of the answer, or the name or code of the error.
SCANS: dict[str, tuple[ClientCall, str]] = {
    "valid": (lambda c: c.scans.create(E, card_number="TEST_VALID", gate="North 2", scanner_id="s"), "'standard'"),
    "vip": (lambda c: c.scans.create(E, card_number="TEST_VIP"), "'vip'"),
    "used": (lambda c: c.scans.create(E, card_number="TEST_USED"), "'AlreadyUsed'"),
    "expired": (lambda c: c.scans.create(E, card_number="TEST_EXPIRED"), "'Expired'"),
    "revoked": (lambda c: c.scans.create(E, card_number="TEST_REVOKED"), "'card_revoked'"),
    "valid token": (lambda c: c.scans.create(E, token="SVC1.TEST_VALID.0.0"), "'ScanResult'"),
    "used token": (lambda c: c.scans.create(E, token="SVC1.TEST_USED.0.0"), "'AlreadyUsed'"),
    "expired token": (lambda c: c.scans.create(E, token="SVC1.TEST_EXPIRED.0.0"), "'Expired'"),
    "revoked token": (lambda c: c.scans.create(E, token="SVC1.TEST_REVOKED.0.0"), "'CardRevoked'"),
    "typed loosely": (lambda c: c.scans.create(E, card_number=" test_valid "), "'ScanResult'"),
    "unknown card": (lambda c: c.scans.create(E, card_number="SVC 1234 5678 9017"), "'card_not_found'"),
    "unknown token": (lambda c: c.scans.create(E, token="SVC1.TEST_OTHER.0.0"), "'card_not_found'"),
    "bad token": (lambda c: c.scans.create(E, token="SVC1.x.1.y"), "'invalid_token'"),
    "unknown event": (lambda c: c.scans.create(UNKNOWN, card_number="TEST_VALID"), "'event_not_found'"),
    "bad event": (lambda c: c.scans.create("tonight", card_number="TEST_VALID"), "'event_id'"),
    "empty number": (lambda c: c.scans.create(E, card_number=""), "'card_number'"),
    "long number": (lambda c: c.scans.create(E, card_number="1" * 65), "of length <= 64"),
    "long token": (lambda c: c.scans.create(E, token="1" * 1025), "of length <= 1024"),
    "long gate": (lambda c: c.scans.create(E, card_number="x", gate="g" * 65), "'gate'"),
    "long scanner": (lambda c: c.scans.create(E, card_number="x", scanner_id="g" * 65), "'scanner_id'"),
    "no character": (lambda c: c.scans.create(E, card_number="a\x00b"), "cannot be stored"),
    "future": (lambda c: c.scans.create(E, card_number="x", occurred_at=NOW + timedelta(hours=1)), "2 minutes ahead"),
    "past": (lambda c: c.scans.create(E, card_number="x", occurred_at=NOW - timedelta(days=4)), "72 hours ago"),
    "lately": (
        lambda c: c.scans.create(E, card_number="TEST_VALID", occurred_at=NOW - timedelta(hours=1)),
        "'ScanResult'",
    ),
    "long idempotency key": (
        lambda c: c.scans.create(E, card_number="x", idempotency_key="k" * 256),
        "'Idempotency-Key'",
    ),
    "too large": (lambda c: c.scans.create(E, card_number="x" * 17_000), "'request_too_large'"),
    "both": (lambda c: c.scans.create(E, card_number="x", token="y"), "either card_number or token"),
    "neither": (lambda c: c.scans.create(E), "either card_number or token"),
    "no zone": (lambda c: c.scans.create(E, card_number="x", occurred_at=datetime(2030, 1, 1)), "with its zone"),  # noqa: DTZ001
}
READS: dict[str, tuple[ClientCall, str]] = {
    "events": (lambda c: list(c.events.list()), "'Sandbox Night'"),
    "first page": (lambda c: c.events.list(limit=1).first(), "'Page'"),
    "pages": (lambda c: list(c.events.list().pages()), "'Page'"),
    "limit 0": (lambda c: list(c.events.list(limit=0)), "'limit'"),
    "limit 101": (lambda c: list(c.events.list(limit=101)), "'limit'"),
    "bad cursor": (lambda c: list(c.events.list(cursor="nonsense")), "'cursor'"),
    "event": (lambda c: c.events.retrieve(E), "'Sandbox Night'"),
    "event in capitals": (lambda c: c.events.retrieve(E.upper()), "'Sandbox Night'"),
    "unknown event": (lambda c: c.events.retrieve(UNKNOWN), "'event_not_found'"),
    "odd event": (lambda c: c.events.retrieve("not a uuid"), "'event_not_found'"),
    "event with a slash": (lambda c: c.events.retrieve("a/b"), "'not_found'"),
    "keys": (lambda c: c.cards.keys(), "is_sandbox=True"),
    "bad token": (lambda c: c.cards.verify("x"), "'invalid_token'"),
    "unknown card": (lambda c: c.cards.verify("SVC1.TEST_OTHER.0.0"), "'invalid_token'"),
    "no token": (lambda c: c.cards.verify(""), "'token'"),
    "odd token": (lambda c: c.cards.verify("é&=%00"), "'invalid_token'"),
    **{name: (lambda c, name=name: c.cards.verify(f"SVC1.{name}.0.0"), f"'{name}'") for name in CARDS},
}
ENDPOINTS: dict[str, tuple[ClientCall, str]] = {
    "no https": (lambda c: c.webhook_endpoints.create(url="ftp://example.com", types=TYPES), "'url'"),
    "a user": (lambda c: c.webhook_endpoints.create(url="https://a:b@example.com", types=TYPES), "a password"),
    "a fragment": (lambda c: c.webhook_endpoints.create(url=HOOK + "#x", types=TYPES), "fragment"),
    "no types": (lambda c: c.webhook_endpoints.create(url=HOOK, types=[]), "'types'"),
    "unknown type": (lambda c: c.webhook_endpoints.create(url=HOOK, types=["no.such"]), "no type"),
    "ping": (lambda c: c.webhook_endpoints.create(url=HOOK, types=["webhook.ping"]), "'types'"),
    "long url": (lambda c: c.webhook_endpoints.create(url=HOOK + "a" * 2000, types=TYPES), "of length <= 2000"),
    "long words": (lambda c: c.webhook_endpoints.create(url=HOOK, types=TYPES, description="d" * 501), "<= 500"),
    "unknown": (lambda c: c.webhook_endpoints.retrieve(UNKNOWN), "'webhook_not_found'"),
    "odd": (lambda c: c.webhook_endpoints.retrieve("x"), "'webhook_not_found'"),
    "change unknown": (lambda c: c.webhook_endpoints.update(UNKNOWN, status="paused"), "'webhook_not_found'"),
    "odd status": (lambda c: c.webhook_endpoints.update(UNKNOWN, status="gone"), "Invalid enum value"),
    "delete unknown": (lambda c: c.webhook_endpoints.delete(UNKNOWN), "'webhook_not_found'"),
    "test unknown": (lambda c: c.webhook_endpoints.test(UNKNOWN), "'webhook_not_found'"),
    "rotate unknown": (lambda c: c.webhook_endpoints.rotate_secret(UNKNOWN), "'webhook_not_found'"),
    "deliveries of unknown": (lambda c: list(c.webhook_endpoints.deliveries(UNKNOWN)), "'webhook_not_found'"),
    "odd filter": (lambda c: list(c.webhook_endpoints.deliveries(UNKNOWN, status="lost")), "'status'"),
    "odd type": (lambda c: list(c.webhook_endpoints.deliveries(UNKNOWN, type="lost")), "'type'"),
    "delivery of unknown": (lambda c: c.webhook_endpoints.delivery(UNKNOWN, UNKNOWN), "'webhook_not_found'"),
    "replay of unknown": (lambda c: c.webhook_endpoints.replay(UNKNOWN), "'webhook_not_found'"),
    "future replay": (lambda c: c.webhook_endpoints.replay(UNKNOWN, until=NOW + timedelta(days=1)), "in the future"),
    "old replay": (lambda c: c.webhook_endpoints.replay(UNKNOWN, since=NOW - timedelta(days=40)), "30 days"),
    "odd replay": (lambda c: c.webhook_endpoints.replay(UNKNOWN, delivery_id="x"), "'delivery_id'"),
    "replay of both": (lambda c: c.webhook_endpoints.replay(UNKNOWN, delivery_id="x", types=TYPES), "either"),
    "replays of unknown": (lambda c: list(c.webhook_endpoints.replays(UNKNOWN)), "'webhook_not_found'"),
    "odd mark": (lambda c: list(c.webhook_events.list(after="x")), "'after'"),
    "odd page of the feed": (lambda c: list(c.webhook_events.list(limit=1000)), "'limit'"),
}
CALLS = [
    (f"{kind}: {name}", *one)
    for kind, calls in (("scan", SCANS), ("read", READS), ("endpoint", ENDPOINTS))
    for name, one in calls.items()
]


@pytest.mark.parametrize(("call", "word"), [one[1:] for one in CALLS], ids=[one[0] for one in CALLS])
def test_every_variant_answers_alike(variants: list[ClientVariant], call: ClientCall, word: str) -> None:
    first, *others = [seen(lambda variant=variant: call(variant.client())) for variant in variants]
    assert word in str(first)
    for variant, other in zip(variants[1:], others, strict=True):
        assert other == first, variant.name


SCOPED: list[tuple[str, ClientCall]] = [
    ("events_read", lambda c: c.events.list().first()),
    ("cards_verify", lambda c: c.cards.keys()),
    ("tickets_activate", lambda c: c.scans.create(E, card_number="x")),
    ("webhooks_read", lambda c: c.webhook_endpoints.list().first()),
    ("admin", lambda c: c.webhook_endpoints.delete(UNKNOWN)),
]


@pytest.mark.parametrize("name", ["events_read", "cards_verify", "tickets_activate", "webhooks_read"])
def test_a_scope_allows_its_own_calls_and_no_others(variant: ClientVariant, name: str) -> None:
    for scope, call in SCOPED:
        answer = seen(lambda call=call: call(variant.client(name)))
        assert ("'insufficient_scope'" in str(answer)) == (scope != name), (scope, answer)
        if scope != name:
            assert f"lacks the scope {scope.replace('_', ':')}." in answer


def test_a_key_that_is_no_longer_good_is_refused(variants: list[ClientVariant]) -> None:
    first, *others = [
        seen(lambda variant=variant: variant.client("revoked").events.list().first()) for variant in variants
    ]
    assert "'AuthenticationError'" in first
    assert all(other == first for other in others)
