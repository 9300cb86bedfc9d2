"""What HTTP makes of a refusal: one table, one body, one hint whether to try again."""

from collections.abc import Mapping
from typing import Any, Final

from gatepass.api.answer import Answer
from gatepass.base.refusals import Busy, InvalidRequest, NotAllowedFromHere, Overloaded, Refusal, Unavailable
from gatepass.base.wire_name import SHOULD_RETRY_HEADER
from gatepass.domain import cards, events, keys, limits, tickets, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.tickets.activation import REFUSALS


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
    keys.InvalidKey: 401,
    keys.DeadKey: 401,
    keys.InsufficientScope: 403,
    NotFound: 404,
    events.EventNotFound: 404,
    cards.CardNotFound: 404,
    tickets.TicketNotFound: 404,
    keys.KeyNotFound: 404,
    webhooks.WebhookNotFound: 404,
    webhooks.DeliveryNotFound: 404,
    MethodNotAllowed: 405,
    tickets.AlreadyActivated: 409,
    tickets.CardHasTicket: 409,
    tickets.SoldOut: 409,
    NotAllowedFromHere: 409,
    cards.NoSigningKey: 409,
    webhooks.TooManyEndpoints: 409,
    cards.Expired: 410,
    RequestTooLarge: 413,
    events.EventNotActive: 422,
    cards.CardSuspended: 422,
    cards.CardRevoked: 422,
    tickets.TicketCancelled: 422,
    tickets.IdempotencyKeyReused: 422,
    limits.RateLimited: 429,
    limits.TooManyFailures: 429,
    InternalError: 500,
    Unavailable: 503,
    Busy: 503,
    Overloaded: 503,
}

# The spec answers used, expired and revoked test cards with 400; the code stays the same in both modes.
SANDBOX_STATUS: Final[dict[type[Refusal], int]] = {
    tickets.AlreadyActivated: 400,
    cards.Expired: 400,
    cards.CardRevoked: 400,
}

WORTH_ANOTHER_TRY: Final = frozenset({429, 500, 503})

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


def answer(refusal: Refusal, mode: Mode | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """The refusal as an answer."""
    status = status_of(refusal, mode)
    hint = {SHOULD_RETRY_HEADER: "true" if status in WORTH_ANOTHER_TRY else "false"}
    if status == 503 or refusal.retry_after is not None:
        hint["Retry-After"] = str(refusal.retry_after or 1)
    if status == 401:
        hint["WWW-Authenticate"] = "Bearer"
    return Answer.of(status, body_of(refusal), {**hint, **(headers or {})})
