"""Replies, and each refusal as a reply: one table of statuses, one body, one hint whether to retry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from starlette.responses import Response
from starlette.types import Message

from gatepass.api.pairing.limits import TooManyPairings, TooManyWrongCodes
from gatepass.base.errors import (
    Busy,
    ChangedMeanwhile,
    InvalidRequest,
    NotAllowedFromHere,
    Overloaded,
    Refusal,
    Unavailable,
)
from gatepass.base.wire_constants import SHOULD_RETRY_HEADER
from gatepass.domain import (
    cards,
    devices,
    events,
    idempotency,
    incidents,
    keys,
    limits,
    organizations,
    tickets,
    twin,
    webhooks,
)
from gatepass.domain.keys import Mode
from gatepass.domain.tickets.activation import REFUSALS

ENCODER: Final = msgspec.json.Encoder()
NOT_MODIFIED: Final = 304


@dataclass(slots=True)
class Reply:
    """Status, headers and the bytes of the body, before they are sent."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, status: int, content: Any, headers: dict[str, str] | None = None) -> "Reply":
        return cls(status, ENCODER.encode(content), headers or {})

    def response(self) -> Response:
        kind = None if self.status == NOT_MODIFIED else "application/json"
        return Response(self.body, self.status, self.headers, kind)

    def start(self) -> Message:
        """The first ASGI message, as Starlette would write it."""
        headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        if self.status != NOT_MODIFIED:  # its length and type are those of the body that the caller has
            headers.append((b"content-length", b"%d" % len(self.body)))
            headers.append((b"content-type", b"application/json"))
        return {"type": "http.response.start", "status": self.status, "headers": headers}


class NotFound(Refusal):
    """There is nothing at this path."""

    code = "not_found"


class MethodNotAllowed(Refusal):
    """This path does not take this method."""

    code = "method_not_allowed"


class RequestTooLarge(Refusal):
    """The request body is larger than 16 KiB."""

    code = "request_too_large"


class InternalError(Refusal):
    """Something went wrong on our side. Tell us the request id."""

    code = "internal_error"


STATUS: Final[dict[type[Refusal], int]] = {
    InvalidRequest: 400,
    cards.InvalidToken: 400,
    devices.InvalidSignature: 400,
    keys.InvalidKey: 401,
    keys.DeadKey: 401,
    keys.RevokedDevice: 401,
    keys.InsufficientScope: 403,
    keys.SuspendedKey: 403,
    organizations.OrganizationSuspended: 403,
    NotFound: 404,
    events.EventNotFound: 404,
    events.CategoryNotFound: 404,
    cards.CardNotFound: 404,
    tickets.TicketNotFound: 404,
    keys.KeyNotFound: 404,
    incidents.IncidentNotFound: 404,
    devices.DeviceNotFound: 404,
    devices.PairingNotFound: 404,
    webhooks.WebhookNotFound: 404,
    webhooks.DeliveryNotFound: 404,
    MethodNotAllowed: 405,
    tickets.AlreadyActivated: 409,
    tickets.CardHasTicket: 409,
    tickets.SoldOut: 409,
    tickets.GuestHasTicket: 409,
    cards.CardNumberTaken: 409,
    cards.HolderHasCard: 409,
    cards.ExternalIdTaken: 409,
    NotAllowedFromHere: 409,
    cards.NoSigningKey: 409,
    webhooks.TooManyEndpoints: 409,
    twin.SandboxFull: 409,
    cards.Expired: 410,
    devices.PairingEnded: 410,
    ChangedMeanwhile: 412,
    RequestTooLarge: 413,
    keys.WrongCell: 421,
    events.EventNotActive: 422,
    events.DoorsClosed: 422,
    cards.CardSuspended: 422,
    cards.CardRevoked: 422,
    tickets.StaticCodeRefused: 422,
    tickets.TicketCancelled: 422,
    tickets.OutsideWindow: 422,
    tickets.WrongGate: 422,
    idempotency.IdempotencyKeyReused: 422,
    limits.RateLimited: 429,
    limits.TooManyFailures: 429,
    TooManyPairings: 429,
    TooManyWrongCodes: 429,
    InternalError: 500,
    Unavailable: 503,
    Busy: 503,
    Overloaded: 503,
}

# The spec wants 400 for a scan of a used, expired or revoked card in the sandbox. The code is the same in both modes.
SANDBOX_STATUS: Final[dict[type[Refusal], int]] = {
    tickets.AlreadyActivated: 400,
    cards.Expired: 400,
    cards.CardRevoked: 400,
}

RETRYABLE: Final = frozenset({429, 500, 503})

# The headers of an answer that was given before, under the same Idempotency-Key.
REPLAYED: Final[Mapping[str, str]] = {"Idempotent-Replayed": "true"}

VERDICT_STATUSES: Final[Mapping[Mode, Mapping[str, int]]] = {
    mode: {
        tickets.ACTIVATED: 200,
        **{code: {**STATUS, **special}[kind] for code, kind in REFUSALS.items()},
    }
    for mode, special in ((Mode.LIVE, {}), (Mode.SANDBOX, SANDBOX_STATUS))
}


def status_of(refusal: Refusal, mode: Mode | None = None) -> int:
    kind = type(refusal)
    return SANDBOX_STATUS[kind] if mode is Mode.SANDBOX and kind in SANDBOX_STATUS else STATUS[kind]


def body_of(refusal: Refusal) -> dict[str, Any]:
    body: dict[str, Any] = {"error": str(refusal), "code": refusal.code}
    if refusal.param is not None:
        body["param"] = refusal.param
    if refusal.details:
        body["details"] = refusal.details
    return body


def refusal_reply(refusal: Refusal, mode: Mode | None = None, headers: Mapping[str, str] | None = None) -> Reply:
    status = status_of(refusal, mode)
    reply = problem_reply(status, body_of(refusal), headers)
    if status == 503 or refusal.retry_after is not None:
        reply.headers["Retry-After"] = str(refusal.retry_after or 1)
    if status == 401:
        reply.headers["WWW-Authenticate"] = "Bearer"
    return reply


def problem_reply(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
    """The reply of a refusal: its body, and the hint whether to retry."""
    hint = {SHOULD_RETRY_HEADER: "true" if status in RETRYABLE else "false"}
    return Reply.of(status, body, {**hint, **(headers or {})})
