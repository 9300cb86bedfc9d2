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
    │   │   └── AlreadyUsed         409 already_activated
    │   ├── Expired                 410
    │   ├── ValidationError         422
    │   ├── RateLimited             429
    │   └── ServerError             5xx
    ├── QueueError                  the file of a ScanQueue cannot be used: a full disk, a damaged file
    │   └── QueueInUse              another thread or process is draining it
    └── WebhookVerificationError    a message that is not from the service, or too old

The sandbox answers used and expired test cards with 400 and the code that the live service has, so the class follows
the code: `except AlreadyUsed` works in both.
"""

from collections.abc import Mapping
from typing import Any, Final


class GatepassError(Exception):
    """Everything that this library raises."""

    message: str
    # The key of the failed scan. Sent again with it, a scan that did succeed gets its first answer.
    idempotency_key: str | None = None
    # True if the ticket may have been activated although this call failed, because the answer was lost.
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
        # True if an earlier try of this scan was refused, and this is that answer.
        self.replayed = replayed

    def __str__(self) -> str:
        named = " ".join(str(part) for part in (self.status, self.code, self.request_id) if part)
        return f"{self.message} ({named})"


class BadRequest(APIStatusError):
    """400: the request is not valid; `param` names the field."""


class AuthenticationError(APIStatusError):
    """401: the key is missing, wrong, revoked or expired."""


class PermissionDenied(APIStatusError):
    """403: the key lacks the scope, or its organization is suspended (`code`: `organization_suspended`)."""


class NotFound(APIStatusError):
    """404: no such event, card or ticket in this organization."""


class Conflict(APIStatusError):
    """409: not possible in the present state."""


class AlreadyUsed(Conflict):
    """409: the ticket was activated before; `details` says when, at which gate and by which scanner."""


class Expired(APIStatusError):
    """410: the card token has expired."""


class ValidationError(APIStatusError):
    """422: understood, and not allowed: the card or the event is not active, or the ticket was cancelled."""


class RateLimited(APIStatusError):
    """429: too many calls; `retry_after` says how many seconds to wait."""


class ServerError(APIStatusError):
    """5xx: a fault or an overload of the service."""


class QueueError(GatepassError):
    """The file of a `ScanQueue` cannot be used. Scans that were added before are still in it."""


class QueueInUse(QueueError):
    """Another thread or process drains or reads the queue; only one may at a time."""


class WebhookVerificationError(GatepassError):
    """A webhook message that must not be trusted."""


BY_CODE: Final[Mapping[str, type[APIStatusError]]] = {"already_activated": AlreadyUsed, "expired": Expired}
BY_STATUS: Final[Mapping[int, type[APIStatusError]]] = {
    400: BadRequest,
    401: AuthenticationError,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: Expired,
    422: ValidationError,
    429: RateLimited,
}


def class_of(status: int, code: str | None) -> type[APIStatusError]:
    """The error class: by the code, else by the status."""
    if code is not None and code in BY_CODE:
        return BY_CODE[code]
    return ServerError if status >= 500 else BY_STATUS.get(status, APIStatusError)
