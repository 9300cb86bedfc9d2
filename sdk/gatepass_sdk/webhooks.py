"""Webhook messages: the verification of their signature. `messages` has their types.

    event = client.webhooks.unwrap(body, headers, secret)
    if isinstance(event, TicketActivated):
        print(event.data.card_number)

A message may come more than once, with the same `event.id`. A type that this version does not know is an
`OtherEvent`.
"""

import hashlib
import hmac
import importlib
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from gatepass_sdk._decode import read
from gatepass_sdk.errors import WebhookVerificationError

if TYPE_CHECKING:
    from gatepass_sdk.messages import (
        ActivatedTicket,
        CancelledEvent,
        CancelledTicket,
        EventCancelled,
        Message,
        OtherEvent,
        TicketActivated,
        TicketCancelled,
        WebhookEvent,
    )

SIGNATURES: Final = ("x-svc-signature", "x-svc-signature-next")
SIGNATURE: Final = re.compile(r"t=([0-9]{1,16}),v1=([0-9a-f]{64})", re.ASCII)
# The largest accepted clock difference. A copy of a message is refused after that.
TOLERANCE_SECONDS: Final = 300


def __getattr__(name: str) -> Any:
    """A class of a message of version 0.1, which had them here."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("gatepass_sdk.messages"), name)


def event_of(value: object) -> "WebhookEvent":
    """The message in this JSON object."""
    messages = importlib.import_module("gatepass_sdk.messages")
    type = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
    kind = messages.KINDS.get(type) if isinstance(type, str) else None
    found: WebhookEvent = read(kind or messages.OtherEvent, value)
    return found


def unwrap(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = TOLERANCE_SECONDS,
    now: Callable[[], float] = time.time,
) -> "WebhookEvent":
    """The message, if this secret signed it within the last five minutes.

    `body` is the received body, unchanged: not parsed and serialized again. During a rotation both the old and the new
    secret are valid.
    """
    raw = body.encode() if isinstance(body, str) else body
    verify(raw, headers, secret, tolerance=tolerance, now=now)
    try:
        return event_of(json.loads(raw))
    except (ValueError, RecursionError) as error:
        raise WebhookVerificationError("The message is signed, but it cannot be read.") from error


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = TOLERANCE_SECONDS,
    now: Callable[[], float] = time.time,
) -> None:
    """Raise unless this secret signed these bytes within the tolerance."""
    found = {name.lower(): value for name, value in headers.items()}
    signatures = [SIGNATURE.fullmatch(found[name]) for name in SIGNATURES if name in found]
    if not signatures:
        raise WebhookVerificationError("The message has no x-svc-signature header.")
    times = [int(one[1]) for one in signatures if one and hmac.compare_digest(_sign(secret, one[1], body), one[2])]
    if not times:
        raise WebhookVerificationError("The signature does not match: another secret, or another body.")
    if abs(now() * 1000 - times[0]) > tolerance * 1000:
        raise WebhookVerificationError("The message is too old, or this machine's clock is wrong.")


def sign(body: bytes, secret: str, *, at: float) -> str:
    """The `x-svc-signature` of these bytes at this time, for tests and for forwarding."""
    milliseconds = str(int(at * 1000))
    return f"t={milliseconds},v1={_sign(secret, milliseconds, body)}"


def _sign(secret: str, milliseconds: str, body: bytes) -> str:
    return hmac.new(secret.encode(), milliseconds.encode() + b"." + body, hashlib.sha256).hexdigest()


class Webhooks:
    """`client.webhooks`: needs no network, so it is the same for both clients."""

    def unwrap(self, body: bytes | str, headers: Mapping[str, str], secret: str) -> "WebhookEvent":
        """The message, if this secret signed it within the last five minutes; else `WebhookVerificationError`."""
        return unwrap(body, headers, secret)


__all__ = [
    "ActivatedTicket",
    "CancelledEvent",
    "CancelledTicket",
    "EventCancelled",
    "Message",
    "OtherEvent",
    "TicketActivated",
    "TicketCancelled",
    "WebhookEvent",
    "Webhooks",
    "event_of",
    "sign",
    "unwrap",
    "verify",
]
