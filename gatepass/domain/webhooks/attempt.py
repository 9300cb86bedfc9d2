"""One attempt to deliver a message, and what came of it."""

from datetime import datetime
from enum import StrEnum

import msgspec


class AttemptError(StrEnum):
    """Why there is no whole answer. Frozen: integrators read these."""

    TIMEOUT = "timeout"
    DNS_FAILED = "dns_failed"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    CONNECTION_LOST = "connection_lost"
    BAD_ANSWER = "bad_answer"
    INTERNAL = "internal_error"


class Attempt(msgspec.Struct, frozen=True):
    """`error` is a code for what went wrong before an answer was whole; `retry_after` is in seconds.

    `dns_ms` and `connect_ms` are there if this attempt itself looked the name up and made the connection.
    """

    at: datetime
    status: int | None
    error: str | None
    address: str | None
    dns_ms: float | None
    connect_ms: float | None
    answer_ms: float | None
    total_ms: float
    answer_head: str | None
    retry_after: float | None

    @property
    def succeeded(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status < 300
