"""The errors. `message` is a sentence that can be shown to the person at the gate.

    GatepassError
    ├── ConfigurationError          no key, no base URL, a key that cannot be one
    ├── APIConnectionError          the service was not reached, or the answer was not from it
    │   └── APITimeoutError         the deadline passed
    ├── APIStatusError              the service answered, and refused
    │   ├── BadRequest              400
    │   ├── AuthenticationError     401
    │   ├── PermissionDenied        403
    │   ├── NotFound                404
    │   ├── Conflict                409
    │   │   ├── AlreadyUsed         409 already_activated
    │   │   ├── SoldOut             409 sold_out
    │   │   ├── CardHasTicket       409 card_has_ticket
    │   │   ├── HolderHasCard       409 holder_has_card
    │   │   └── ExternalIdTaken     409 external_id_taken
    │   ├── Expired                 410
    │   ├── ChangedMeanwhile        412
    │   ├── ValidationError         422
    │   │   ├── CardSuspended       422 card_suspended
    │   │   ├── CardRevoked         422 card_revoked
    │   │   ├── DoorsClosed         422 doors_closed
    │   │   ├── StaticCodeRefused   422 static_code_refused
    │   │   ├── OutsideWindow       422 outside_window
    │   │   ├── WrongGate           422 wrong_gate
    │   │   └── TicketWasCancelled  422 ticket_cancelled
    │   ├── RateLimited             429
    │   └── ServerError             5xx
    ├── QueueError                  the file of a ScanQueue cannot be used: a full disk, a damaged file
    │   └── QueueInUse              another thread or process is draining it
    ├── GateError                   the directory of a Gate cannot be used, or it is not paired
    │   ├── GateInUse               another process works with it
    │   └── PairingEnded            the code is wrong or too old, or the pairing was refused
    └── WebhookVerificationError    a message that is not from the service, or too old

The sandbox answers used, expired and revoked test cards with 400 and the code that the live service has, so the class
follows the code: `except AlreadyUsed` works in both.
"""

from collections.abc import Mapping
from typing import Any, Final


class GatepassError(Exception):
    """Everything that this library raises."""

    message: str
    # The key of the failed call. Sent again with it, a call that did succeed gets its first answer.
    idempotency_key: str | None = None
    # True if the service may have done it although this call failed, because the answer was lost.
    outcome_unknown: bool = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with all its fields, so that it can be raised in a worker process and caught in another."""
        return (_without_init, (type(self), *self.args), self.__dict__)


def _without_init(kind: type[GatepassError], *arguments: str) -> GatepassError:
    return kind.__new__(kind, *arguments)


class ConfigurationError(GatepassError):
    """The client cannot be made with these settings."""


class APIConnectionError(GatepassError):
    """No answer from the service: it was not reached, or something else answered."""


class APITimeoutError(APIConnectionError):
    """No answer before the deadline."""


class DeviceUnknown(APIConnectionError):
    """A `Gate` was answered by a service that does not know its key: of another cell, or on another database.

    It goes on as without a network, and asks again. Only `DeviceRevoked` ends a device.
    """


class APIStatusError(GatepassError):
    """The service answered, and refused."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None,
        request_id: str | None = None,
        param: str | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
        replayed: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.param = param
        self.details: Mapping[str, Any] = details or {}
        self.retry_after = retry_after
        # True if an earlier try of this call was refused, and this is that answer.
        self.replayed = replayed

    def __str__(self) -> str:
        named = " ".join(str(part) for part in (self.status, self.code, self.request_id) if part)
        return f"{self.message} ({named})"


class BadRequest(APIStatusError):
    """400: the request is not valid; `param` names the field."""


class AuthenticationError(APIStatusError):
    """401: the key is missing, wrong, revoked or expired."""


class DeviceRevoked(AuthenticationError):
    """401: a person has revoked this device."""


class PermissionDenied(APIStatusError):
    """403: the key lacks the scope, or its organization is suspended (`code`: `organization_suspended`)."""


class NotFound(APIStatusError):
    """404: no such event, card or ticket in this organization."""


class Conflict(APIStatusError):
    """409: not possible in the present state."""


class AlreadyUsed(Conflict):
    """409: the ticket was activated before; `details` says when, at which gate and by which scanner."""


class SoldOut(Conflict):
    """409: the category has no place left."""


class CardHasTicket(Conflict):
    """409: the card holds a ticket for the event already."""


class HolderHasCard(Conflict):
    """409: the e-mail address has another card; `details` has its `card_id`."""


class ExternalIdTaken(Conflict):
    """409: this external_id was used with other content."""


class Expired(APIStatusError):
    """410: the card token has expired."""


class ChangedMeanwhile(APIStatusError):
    """412: the object is no longer the one that `if_match` names. Read it again."""


class ValidationError(APIStatusError):
    """422: understood, and not allowed: the card or the event is not active, or the ticket was cancelled."""


class CardSuspended(ValidationError):
    """422: the card is suspended."""


class CardRevoked(ValidationError):
    """422: the card was revoked, for good."""


class StaticCodeRefused(ValidationError):
    """422: the event takes only codes that a phone made itself a moment ago."""


class DoorsClosed(ValidationError):
    """422: the doors are not open yet; `details` has `doors_open_at`."""


class OutsideWindow(ValidationError):
    """422: tickets of this category are not good at this time; `details` has `valid_from` and `valid_until`."""


class WrongGate(ValidationError):
    """422: tickets of this category open other gates; `details` has their names, `gates`."""


class TicketWasCancelled(ValidationError):
    """422: the ticket was cancelled."""


class WrongCell(APIStatusError):
    """421: the key belongs to another cell of the service than the one that was reached."""


class RateLimited(APIStatusError):
    """429: too many calls; `retry_after` says how many seconds to wait."""


class ServerError(APIStatusError):
    """5xx: a fault or an overload of the service."""


class QueueError(GatepassError):
    """The file of a `ScanQueue` cannot be used. Scans that were added before are still in it."""


class QueueInUse(QueueError):
    """Another thread or process drains or reads the queue; only one may at a time."""


class GateError(GatepassError):
    """The directory of a `Gate` cannot be used, or its device is not paired. What it keeps is still there."""


class GateInUse(GateError):
    """Another process works with this directory; only one may at a time."""


class PairingEnded(GateError):
    """The code is wrong, used or too old, or the pairing was refused. Ask for another code."""


class WebhookVerificationError(GatepassError):
    """A webhook message that must not be trusted."""


BY_CODE: Final[Mapping[str, type[APIStatusError]]] = {
    "already_activated": AlreadyUsed,
    "device_revoked": DeviceRevoked,
    "sold_out": SoldOut,
    "card_has_ticket": CardHasTicket,
    "holder_has_card": HolderHasCard,
    "external_id_taken": ExternalIdTaken,
    "expired": Expired,
    "changed_meanwhile": ChangedMeanwhile,
    "card_suspended": CardSuspended,
    "card_revoked": CardRevoked,
    "static_code_refused": StaticCodeRefused,
    "doors_closed": DoorsClosed,
    "outside_window": OutsideWindow,
    "wrong_gate": WrongGate,
    "ticket_cancelled": TicketWasCancelled,
}
BY_STATUS: Final[Mapping[int, type[APIStatusError]]] = {
    400: BadRequest,
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: Expired,
    412: ChangedMeanwhile,
    421: WrongCell,
    422: ValidationError,
    429: RateLimited,
}


def class_of(status: int, code: str | None) -> type[APIStatusError]:
    """The error class: by the code, else by the status."""
    if code is not None and code in BY_CODE:
        return BY_CODE[code]
    return ServerError if status >= 500 else BY_STATUS.get(status, APIStatusError)
