"""A request, a reply, and every refusal."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._platform.records import DeviceRecord

# By code: the status and the sentence. The tests compare them with the service's own.
REFUSALS: Final[Mapping[str, tuple[int, str]]] = {
    "invalid_request": (400, "The request is not valid."),
    "invalid_token": (400, "The card token is not valid."),
    "invalid_key": (401, "The API key is missing, invalid or revoked."),
    "insufficient_scope": (403, "This API key lacks the scope that the call needs."),
    "not_found": (404, "There is nothing at this path."),
    "event_not_found": (404, "There is no such event."),
    "card_not_found": (404, "There is no such card."),
    "category_not_found": (404, "There is no such ticket category."),
    "ticket_not_found": (404, "This card has no ticket for the event."),
    "device_not_found": (404, "There is no such device."),
    "incident_not_found": (404, "There is no such incident."),
    "webhook_not_found": (404, "There is no such webhook endpoint."),
    "delivery_not_found": (404, "There is no such delivery at this endpoint."),
    "method_not_allowed": (405, "This path does not take this method."),
    "already_activated": (409, "This ticket has already been activated."),
    "card_has_ticket": (409, "This card already holds a ticket for the event."),
    "sold_out": (409, "This category is sold out."),
    "sandbox_full": (409, "The sandbox is full."),
    "card_number_taken": (409, "There is a card with this number already."),
    "holder_has_card": (409, "This e-mail address has another card."),
    "external_id_taken": (409, "This external_id was used with other content."),
    "not_allowed": (409, "This cannot be done in the present state."),
    "too_many_endpoints": (409, "An organization has at most 16 webhook endpoints. Delete one first."),
    "expired": (410, "The card token has expired."),
    "changed_meanwhile": (412, "It was changed since you read it. Read it again."),
    "request_too_large": (413, "The request body is larger than 16 KiB."),
    "event_not_active": (422, "This event is not open for scans."),
    "doors_closed": (422, "The doors of this event are not open yet."),
    "card_suspended": (422, "This card is suspended."),
    "card_revoked": (422, "This card has been revoked."),
    "static_code_refused": (422, "This event takes only codes that a phone made itself a moment ago."),
    "ticket_cancelled": (422, "This ticket was cancelled."),
    "outside_window": (422, "Tickets of this category do not open the gate at this time."),
    "wrong_gate": (422, "Tickets of this category do not open this gate."),
    "idempotency_key_reused": (422, "This Idempotency-Key was used with another request."),
    "rate_limited": (429, "Too many calls with this API key. Slow down and try again."),
    "internal_error": (500, "Something went wrong on our side. Tell us the request id."),
    "unavailable": (
        503,
        "The call could not be finished in time and its outcome is unknown. Try again with the same Idempotency-Key.",
    ),
    "overloaded": (503, "Too many calls are waiting. Try again in a moment."),
}
RETRYABLE: Final = frozenset({429, 500, 503})


class Refused(Exception):
    """Raised for an error reply."""

    def __init__(
        self,
        code: str,
        sentence: str | None = None,
        *,
        param: str | None = None,
        details: Mapping[str, Any] | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        known, words = REFUSALS[code]
        self.code = code
        self.status = status or known
        self.body: dict[str, Any] = {"error": sentence or words, "code": code}
        if param is not None:
            self.body["param"] = param
        if details is not None:
            self.body["details"] = dict(details)
        self.headers = dict(headers or {})

    def reply(self) -> "Reply":
        headers = {"x-svc-should-retry": "true" if self.status in RETRYABLE else "false"}
        if self.status in (429, 503):
            headers["retry-after"] = "1"
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        return Reply(self.status, self.body, {**headers, **self.headers})


def invalid(sentence: str, param: str | None = None) -> Refused:
    return Refused("invalid_request", sentence, param=param)


@dataclass(frozen=True)
class Reply:
    """`content` of None is an empty body."""

    status: int
    content: Mapping[str, Any] | None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def raw(self) -> bytes:
        return b"" if self.content is None else json.dumps(self.content, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Request:
    """One authenticated request: `ids` are those in its path, `mode` is that of its key."""

    id: UUID
    method: str
    mode: str
    url: str
    ids: tuple[str, ...]
    query: Mapping[str, str]
    idempotency_key: str | None
    if_match: str | None
    if_none_match: str | None
    scopes: frozenset[str]
    body: bytes
    # Whose key it is, if it is a device's.
    device: DeviceRecord | None = None
