"""Verification shows the step at which a message fails, and accepts exactly what a receiver should accept."""

import json
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from gatepass.base.ids import new_id
from gatepass.base.wire_constants import NEXT_SIGNATURE_HEADER, SIGNATURE_HEADER
from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.signature import Secrets, new_secret
from gatepass.domain.webhooks.verification import FRESH, SignatureCheck, StepResult, read_headers, verify
from tests import factory

SECRET = new_secret()
BODY = b'{"id":"evt_1","data":{"name":"Zo\xc3\xab"}}'


def headers(at: datetime, body: bytes = BODY, *, secret: str = SECRET, other: str | None = None) -> dict[str, str]:
    return signature.headers(
        Secrets(secret, other), body, event_id=UUID(int=1), type="ticket.activated", delivery_id=new_id(), attempt=1,
        replayed=False, at=at,
    )  # fmt: skip


def failed(found: SignatureCheck) -> list[str]:
    return [step.name for step in found.steps if step.result is StepResult.FAILED]


def test_a_message_of_ours_passes_both_ways() -> None:
    at = factory.now()
    found = verify(SECRET, headers(at), BODY, at=at)
    assert [one.header for one in found] == [SIGNATURE_HEADER, "webhook-signature"]
    assert all(one.genuine for one in found)
    assert len(found[0].steps) == 6


def test_it_agrees_with_the_library() -> None:
    sent = headers(factory.now())
    assert Webhook(SECRET).verify(BODY, sent)
    assert verify(SECRET, sent, BODY, at=factory.now())[1].genuine


def test_while_a_secret_is_rotated_each_secret_passes_where_it_signed() -> None:
    at, new = factory.now(), new_secret()
    sent = headers(at, other=new)
    by_header = {one.header: one.genuine for one in verify(new, sent, BODY, at=at)}
    assert by_header == {SIGNATURE_HEADER: False, NEXT_SIGNATURE_HEADER: True, "webhook-signature": True}


@pytest.mark.parametrize("apart", [FRESH + timedelta(seconds=1), -FRESH - timedelta(seconds=1)])
def test_a_message_out_of_its_time_fails_at_that_step_alone(apart: timedelta) -> None:
    at = factory.now()
    for found in verify(SECRET, headers(at), BODY, at=at + apart):
        assert failed(found) == ["Time is fresh"]
        assert not found.genuine


@given(st.binary(max_size=200))
def test_any_other_body_fails_at_the_comparison(body: bytes) -> None:
    at = factory.now()
    for found in verify(SECRET, headers(at), body, at=at):
        assert failed(found) == ([] if body == BODY else ["Compared in constant time"])


def test_the_secret_is_never_shown() -> None:
    at = factory.now()
    for secret in (SECRET, new_secret()):
        shown = repr(verify(secret, headers(at, other=SECRET), BODY, at=at))
        assert secret not in shown
        assert secret.removeprefix("whsec_") not in shown


@pytest.mark.parametrize(
    ("body", "secret", "hint"),
    [
        (BODY + b"\r\n", SECRET, "white space around the body"),
        (json.dumps(json.loads(BODY)).encode(), SECRET, "parsed and formatted"),
        (BODY, SECRET + " ", "white space around the secret"),
        (BODY, "whsec_short", "does not look like one of ours"),
    ],
    ids=["line end", "formatted", "blank", "short"],  # the secret is another one in each process of a run
)
def test_common_mistakes_are_named(body: bytes, secret: str, hint: str) -> None:
    at = factory.now()
    found = verify(secret, headers(at), body, at=at)[0]
    assert found.hint is not None
    assert hint in found.hint
    assert not found.genuine


@pytest.mark.parametrize(
    "text",
    ["", "host: example.com", "x-svc-signature: t=1,v1=00", "webhook-id: 1", "t=1, v1=2", "webhook-signature: x"],
)
def test_headers_that_are_missing_or_unreadable_are_told(text: str) -> None:
    (found,) = verify(SECRET, read_headers(text), BODY, at=factory.now())
    assert not found.genuine
    assert found.steps[-1].result is StepResult.FAILED


@given(st.text(max_size=200), st.text(max_size=100), st.binary(max_size=100))
def test_whatever_is_pasted_is_answered(text: str, secret: str, body: bytes) -> None:
    for prefix in ("", "x-svc-signature: ", "webhook-id: 1\nwebhook-timestamp: 99999999999\nwebhook-signature: v1,"):
        found = verify(secret, read_headers(prefix + text), body, at=factory.now())
        assert not any(one.genuine for one in found)


def test_headers_as_people_paste_them() -> None:
    at = factory.now()
    sent = headers(at)
    for line in ("{}: {}", "  {}:{}", '"{}": "{}",'):
        pasted = "\n".join(line.format(name.title(), value) for name, value in sent.items())
        assert all(one.genuine for one in verify(SECRET, read_headers(pasted), BODY, at=at)), line
    assert verify(SECRET, read_headers(sent[SIGNATURE_HEADER]), BODY, at=at)[0].genuine
