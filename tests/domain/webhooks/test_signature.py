"""Signatures: our own scheme, Standard Webhooks, and two secrets during a rotation."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from gatepass.base.ids import new_id
from gatepass.domain.webhooks.message import written_id
from gatepass.domain.webhooks.signature import Secrets, chosen, headers, new_secret

AT = datetime(2026, 6, 1, 12, 0, 0, 987_654, tzinfo=UTC)
BODY = b'{"id":"evt_1"}'


def signed(secrets: Secrets, at: datetime = AT, **different: Any) -> dict[str, str]:
    given: dict[str, Any] = {
        "event_id": new_id(), "type": "ticket.activated", "delivery_id": new_id(), "attempt": 3, "replayed": False,
    }  # fmt: skip
    return headers(secrets, BODY, **given | different, at=at)


def test_the_header_is_the_contracts() -> None:
    secret, event_id, delivery_id = new_secret(), new_id(), new_id()
    found = signed(Secrets(secret), event_id=event_id, delivery_id=delivery_id)
    milliseconds = "1780315200987"
    v1 = hmac.new(secret.encode(), milliseconds.encode() + b"." + BODY, hashlib.sha256).hexdigest()
    assert found.pop("webhook-signature").startswith("v1,")
    assert found == {
        "content-type": "application/json",
        "x-svc-event": "ticket.activated",
        "x-svc-signature": f"t={milliseconds},v1={v1}",
        "x-svc-delivery": str(delivery_id),
        "x-svc-attempt": "3",
        "webhook-id": written_id(event_id),
        "webhook-timestamp": milliseconds[:-3],
    }


def test_standard_webhooks_accepts_it_and_nothing_else() -> None:
    secret, now = new_secret(), datetime.now(UTC)
    found = signed(Secrets(secret), now)
    Webhook(secret).verify(BODY, found)
    for wrong in (
        lambda: Webhook(new_secret()).verify(BODY, found),
        lambda: Webhook(secret).verify(BODY + b" ", found),
        lambda: Webhook(secret).verify(BODY, signed(Secrets(secret), now - timedelta(minutes=6))),
    ):
        with pytest.raises(WebhookVerificationError):
            wrong()


def test_while_a_secret_is_rotated_both_are_good_and_the_contracts_header_has_one() -> None:
    old, new, now = new_secret(), new_secret(), datetime.now(UTC)
    found = signed(Secrets(old, new), now)
    for secret, name in ((old, "x-svc-signature"), (new, "x-svc-signature-next")):
        t, _, v1 = found[name].removeprefix("t=").partition(",v1=")
        assert v1 == hmac.new(secret.encode(), t.encode() + b"." + BODY, hashlib.sha256).hexdigest()
        Webhook(secret).verify(BODY, found)


def test_a_replay_says_so() -> None:
    assert signed(Secrets(new_secret()), replayed=True)["x-svc-replay"] == "1"


def test_which_secret_signs_when() -> None:
    switch, retire = AT + timedelta(hours=24), AT + timedelta(hours=48)

    def at(moment: datetime) -> tuple[str, str | None]:
        return chosen("old", "new", switches_at=switch, retires_at=retire, at=moment)

    assert at(AT) == ("old", "new")
    assert at(switch - timedelta(seconds=1)) == ("old", "new")
    assert at(switch) == ("new", "old")
    assert at(retire - timedelta(seconds=1)) == ("new", "old")
    assert at(retire) == ("new", None)
    assert chosen("old", None, switches_at=None, retires_at=None, at=AT) == ("old", None)


def test_secrets_are_32_random_bytes() -> None:
    assert len({new_secret() for _ in range(100)}) == 100
    assert all(len(new_secret()) == len("whsec_") + 44 for _ in range(10))
