"""Retries: when to try again, how long to wait, and which error ends a call. Without a network or a clock of its own.

A scan has one key for all its tries, so the next try gets an answer that was lost. When there are no tries left, the
error says whether the ticket may have been activated nevertheless.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx2

from gatepass_sdk._call import Answer, Call
from gatepass_sdk.errors import APIConnectionError, APIStatusError, APITimeoutError, GatepassError, class_of

SHOULD_RETRY: Final = "x-svc-should-retry"
RETRYABLE: Final = frozenset({408, 429, 500, 502, 503, 504})
# Answers that the service keeps for the key of a scan: they are the outcome of the earlier tries too.
KEPT_FOR_KEY: Final = frozenset({404, 409, 410, 422})
# Raised before a byte of the request is sent.
NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
FIRST_WAIT: Final = 0.1
LONGEST_WAIT: Final = 2.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The seconds for a whole call and for one try, and the number of retries."""

    # Reads have more time than scans.
    deadline: float = 20.0
    # The limit of a gate: enough for two tries in a dead network, or eight with a busy service.
    scan_deadline: float = 8.0
    # Longer than the service's own deadline of three seconds, so that its late answers are received.
    try_timeout: float = 3.5
    max_retries: int = 8

    def with_changes(self, **changes: Any) -> "RetryPolicy":
        return replace(self, **{name: value for name, value in changes.items() if value is not None})


class Tries:
    """The tries of one call."""

    def __init__(
        self, call: Call[Any], policy: RetryPolicy, *, clock: Callable[[], float], jitter: Callable[[], float]
    ) -> None:
        self._call = call
        self._policy = policy
        self._clock = clock
        self._jitter = jitter
        self._ends = clock() + (policy.scan_deadline if call.is_scan else policy.deadline)
        self._failed = 0
        # Whether an earlier try may have reached the service although no answer came back.
        self._uncertain = False

    @property
    def time_left(self) -> float:
        return max(self._ends - self._clock(), 0.0)

    @property
    def time_for_this_try(self) -> float:
        return max(min(self.time_left, self._policy.try_timeout), 0.001)

    def after_failure(self, failure: Exception) -> float:
        """The wait after a try without an answer. Raises if there is no other try."""
        was_sent = not isinstance(failure, NOT_SENT)
        self._uncertain = self._uncertain or was_sent
        wait = self._wait(None)
        if (was_sent and not self._call.repeatable) or wait is None:
            raise self._annotated(self._no_answer(failure)) from failure
        return wait

    def after_foreign_answer(self, answer: Answer) -> float:
        """The wait after an answer that is not from the service: a portal, a proxy, half a body."""
        self._uncertain = True
        is_busy = answer.status in RETRYABLE
        wait = self._wait(retry_after(answer.headers.get("retry-after")) if is_busy else None)
        if not self._call.repeatable or wait is None:
            kind = answer.headers.get("content-type", "no type")
            raise self._annotated(
                APIConnectionError(
                    f"Something other than Gatepass answered ({answer.status}, {kind}). Check the network."
                )
            )
        return wait

    def after_refusal(self, answer: Answer) -> float:
        """The wait after a temporary refusal. Raises the refusal if it is final or there is no time."""
        hint = answer.headers.get(SHOULD_RETRY)
        passes = hint == "true" if hint is not None else answer.status in RETRYABLE
        if answer.status >= 500:
            self._uncertain = True
        refusal = refusal_of(answer)
        wait = self._wait(refusal.retry_after) if passes else None
        if wait is None or (self._uncertain and not self._call.repeatable):
            is_definite = answer.status in KEPT_FOR_KEY
            raise self._annotated(refusal, unknown=self._uncertain and not is_definite)
        return wait

    def _wait(self, requested: float | None) -> float | None:
        """The wait, or None if there are no tries left, or no time for another."""
        self._failed += 1
        if self._failed > self._policy.max_retries:
            return None
        backoff = min(FIRST_WAIT * 2 ** (self._failed - 1), LONGEST_WAIT) * (1 - 0.25 * self._jitter())
        wait = max(requested or 0.0, backoff)
        return wait if wait < self.time_left else None

    def _no_answer(self, failure: Exception) -> APIConnectionError:
        kind = APITimeoutError if isinstance(failure, httpx2.TimeoutException | TimeoutError) else APIConnectionError
        if not self._uncertain:
            return kind("Gatepass cannot be reached. Check the network and try again.")
        if self._call.is_scan:
            return kind(
                "No answer came back. The ticket may have been activated: try again before you turn anyone away."
            )
        return kind("No answer came back from Gatepass. Try again.")

    def _annotated(self, error: GatepassError, *, unknown: bool | None = None) -> GatepassError:
        error.idempotency_key = self._call.idempotency_key
        error.outcome_unknown = self._uncertain if unknown is None else unknown
        return error


def refusal_of(answer: Answer) -> APIStatusError:
    """The error class of a refusal, with all its fields."""
    body = answer.value
    code = body.get("code")
    details = body.get("details")
    return class_of(answer.status, code)(
        str(body.get("error") or f"The service answered {answer.status}."),
        status=answer.status,
        code=code,
        request_id=answer.request_id,
        param=body.get("param"),
        details=details if isinstance(details, dict) else None,
        retry_after=retry_after(answer.headers.get("retry-after")),
        replayed=answer.was_replayed,
    )


def retry_after(value: str | None) -> float | None:
    """The seconds in a `Retry-After` header, which is a number or a date."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None
