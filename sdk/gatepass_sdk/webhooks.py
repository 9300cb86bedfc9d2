"""Webhook messages: their types, and the verification of their signature.

    event = client.webhooks.unwrap(body, headers, secret)
    if isinstance(event, TicketActivated):
        print(event.data.card_number)

A message may come more than once, with the same `event.id`. A type that this version does not know is an
`OtherEvent`.
"""

import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

from gatepass_sdk._decode import Model, read
from gatepass_sdk.errors import WebhookVerificationError

SIGNATURES: Final = ("x-svc-signature", "x-svc-signature-next")
SIGNATURE: Final = re.compile(r"t=([0-9]{1,16}),v1=([0-9a-f]{64})", re.ASCII)
# The largest accepted clock difference. A copy of a message is refused after that.
TOLERANCE_SECONDS: Final = 300


@dataclass(frozen=True, kw_only=True)
class Message(Model):
    """The fields of every message."""

    id: str
    type: str
    organization_id: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class ActivatedTicket(Model):
    ticket_id: str
    event_id: str
    card_number: str
    activated_at: datetime


@dataclass(frozen=True, kw_only=True)
class TicketActivated(Message):
    """A scan activated a ticket."""

    data: ActivatedTicket


@dataclass(frozen=True, kw_only=True)
class CancelledTicket(Model):
    ticket_id: str
    event_id: str
    card_number: str
    cancelled_at: datetime
    reason: str | None
    was_activated: bool


@dataclass(frozen=True, kw_only=True)
class TicketCancelled(Message):
    """A ticket was cancelled, alone or with its event."""

    data: CancelledTicket


@dataclass(frozen=True, kw_only=True)
class CancelledEvent(Model):
    event_id: str
    cancelled_at: datetime
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class EventCancelled(Message):
    """An event was cancelled; a `TicketCancelled` follows for each of its tickets."""

    data: CancelledEvent


@dataclass(frozen=True, kw_only=True)
class OtherEvent(Message):
    """Any other type, with its data unread."""

    data: Mapping[str, Any]


WebhookEvent: TypeAlias = TicketActivated | TicketCancelled | EventCancelled | OtherEvent

KINDS: Final[Mapping[str, type[WebhookEvent]]] = {
    "ticket.activated": TicketActivated,
    "ticket.cancelled": TicketCancelled,
    "event.cancelled": EventCancelled,
}


def event_of(value: object) -> WebhookEvent:
    """The message in this JSON object."""
    kind = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
    return read(KINDS.get(kind, OtherEvent) if isinstance(kind, str) else OtherEvent, value)


def unwrap(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = TOLERANCE_SECONDS,
    now: Callable[[], float] = time.time,
) -> WebhookEvent:
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

    def unwrap(self, body: bytes | str, headers: Mapping[str, str], secret: str) -> WebhookEvent:
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
