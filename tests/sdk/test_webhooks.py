"""Verification of webhook messages: which ones are accepted."""

import json
from typing import Any

import pytest

from gatepass_sdk import (
    CardUpdated,
    EventCancelled,
    OtherEvent,
    TicketActivated,
    TicketCancelled,
    WebhookEvent,
    WebhookVerificationError,
)
from gatepass_sdk.webhooks import Webhooks, sign, unwrap, verify

SECRET, OTHER = "whsec_" + "A" * 43 + "=", "whsec_" + "B" * 43 + "="
NOW = 1_790_000_000.0
DATA: dict[str, dict[str, Any]] = {
    "ticket.activated": {"ticket_id": "t", "event_id": "e", "card_number": "c", "activated_at": "2026-05-01T20:00:00Z"},
    "ticket.cancelled": {
        "ticket_id": "t",
        "event_id": "e",
        "card_number": "c",
        "cancelled_at": "2026-05-01T20:00:00Z",
        "reason": None,
        "was_activated": True,
    },
    "event.cancelled": {"event_id": "e", "cancelled_at": "2026-05-01T20:00:00.123456Z", "reason": "Storm"},
    "card.updated": {
        "card_id": "c",
        "card_number": "n",
        "external_id": None,
        "changed": ["holder"],
        "updated_at": "2026-05-01T20:00:00Z",
    },
    "webhook.ping": {"webhook_id": "w"},
    "gate.opened": {"anything": ["new"]},
}
KINDS = [TicketActivated, TicketCancelled, EventCancelled, CardUpdated, OtherEvent, OtherEvent]


def body(type: str = "ticket.activated", **more: Any) -> bytes:
    message = {"id": "evt_1", "type": type, "organization_id": "o", "created_at": "2026-05-01T20:00:00Z"}
    return json.dumps({**message, "data": DATA[type], **more}).encode()


def signed(content: bytes, secret: str = SECRET, at: float = NOW, name: str = "x-svc-signature") -> dict[str, str]:
    return {name: sign(content, secret, at=at)}


def read(content: bytes | str, headers: dict[str, str], secret: str = SECRET, at: float = NOW) -> WebhookEvent:
    return unwrap(content, headers, secret, now=lambda: at)


@pytest.mark.parametrize(("type", "kind"), list(zip(DATA, KINDS, strict=True)))
def test_each_type_has_its_model_and_new_types_are_let_through(type: str, kind: type) -> None:
    event = read(body(type, future_field=1), signed(body(type, future_field=1)))
    assert isinstance(event, kind)
    assert event.type == type
    assert event.raw["future_field"] == 1


def test_a_body_may_be_text_and_headers_may_be_written_in_capitals() -> None:
    content = body()
    headers = {name.upper(): value for name, value in signed(content).items()}
    assert read(content.decode(), headers) == read(content, signed(content))


@pytest.mark.parametrize("seconds", [0, 299, -299])
def test_a_message_of_these_minutes_is_believed(seconds: float) -> None:
    assert read(body(), signed(body(), at=NOW - seconds))


@pytest.mark.parametrize("seconds", [301, 86_400, -301])
def test_an_old_or_a_future_message_is_not(seconds: float) -> None:
    with pytest.raises(WebhookVerificationError, match="too old, or this machine's clock"):
        read(body(), signed(body(), at=NOW - seconds))


def test_a_message_that_was_changed_is_not() -> None:
    for changed in (body() + b" ", body().replace(b"evt_1", b"evt_2"), b""):
        with pytest.raises(WebhookVerificationError, match="does not match"):
            read(changed, signed(body()))


def test_another_secret_is_not_believed() -> None:
    with pytest.raises(WebhookVerificationError, match="does not match"):
        read(body(), signed(body(), OTHER))


def test_a_time_cannot_be_swapped_for_a_newer_one() -> None:
    old = sign(body(), SECRET, at=NOW - 1000)
    with pytest.raises(WebhookVerificationError, match="does not match"):
        read(body(), {"x-svc-signature": f"t={int(NOW * 1000)},{old.partition(',')[2]}"})


@pytest.mark.parametrize(
    "value", ["", "v1=00", "t=1,v1=zz", "t=-1,v1=" + "0" * 64, "t=٣,v1=" + "0" * 64, "t=1,v1=" + "0" * 64 + ",v1=x"]
)
def test_a_signature_has_one_form(value: str) -> None:
    with pytest.raises(WebhookVerificationError, match="does not match"):
        read(body(), {"x-svc-signature": value})


def test_without_a_signature_nothing_is_believed() -> None:
    with pytest.raises(WebhookVerificationError, match="no x-svc-signature"):
        read(body(), {"content-type": "application/json"})


def test_while_a_secret_is_rotated_the_old_and_the_new_one_are_good() -> None:
    headers = signed(body()) | signed(body(), OTHER, name="x-svc-signature-next")
    assert read(body(), headers, SECRET) == read(body(), headers, OTHER)
    with pytest.raises(WebhookVerificationError):
        read(body(), headers, "whsec_third")
    stale = signed(body(), at=NOW - 1000) | signed(body(), OTHER, at=NOW - 1000, name="x-svc-signature-next")
    with pytest.raises(WebhookVerificationError, match="too old"):
        read(body(), stale, OTHER)


@pytest.mark.parametrize("content", [b"", b"x", b"[]", b"{}", b'{"type":1}', b"\xff", b"[" * 100_000])
def test_a_signed_message_that_cannot_be_read_is_an_error_of_ours(content: bytes) -> None:
    with pytest.raises(WebhookVerificationError, match="cannot be read"):
        read(content, signed(content))


def test_the_clients_use_the_real_clock() -> None:
    with pytest.raises(WebhookVerificationError, match="too old"):
        Webhooks().unwrap(body(), signed(body(), at=1.0), SECRET)
    with pytest.raises(WebhookVerificationError, match="too old"):
        verify(body(), signed(body(), at=1.0), SECRET)
