"""When to try again, how long to wait, and what to say when there is no time left. It knows no network and no clock.

A scan carries one key over all its tries, so a try whose answer was lost is answered by the next one. When there are no
tries left, the error says whether the ticket may have been activated all the same.
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
WORTH_ANOTHER_TRY: Final = frozenset({408, 429, 500, 502, 503, 504})
# Answers that the service keeps for the key of a scan: whatever an earlier try did, this is its outcome.
KEPT: Final = frozenset({404, 409, 410, 422})
# These come before a byte of the request is sent.
NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
FIRST_WAIT: Final = 0.1
LONGEST_WAIT: Final = 2.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take in all, how long one try, and how many tries may follow the first."""

    # Reads may take their time.
    deadline: float = 20.0
    # What a gate can afford: two tries into a dead network, or eight into a busy service.
    scan_deadline: float = 8.0
    # Longer than the service's own deadline of three seconds, so that its answer is not missed by a hair.
    try_timeout: float = 3.5
    max_retries: int = 8

    def but(self, **changes: Any) -> "Patience":
        return replace(self, **{name: value for name, value in changes.items() if value is not None})


class Tries:
    """The tries of one call."""

    def __init__(
        self, call: Call[Any], patience: Patience, *, clock: Callable[[], float], chance: Callable[[], float]
    ) -> None:
        self._call = call
        self._patience = patience
        self._clock = clock
        self._chance = chance
        self._ends = clock() + (patience.scan_deadline if call.is_scan else patience.deadline)
        self._failed = 0
        # Whether an earlier try may have reached the service without our hearing of it.
        self._uncertain = False

    @property
    def time_left(self) -> float:
        return max(self._ends - self._clock(), 0.0)

    @property
    def time_for_this_try(self) -> float:
        return max(min(self.time_left, self._patience.try_timeout), 0.001)

    def after_failure(self, failure: Exception) -> float:
        """How long to wait after a try without an answer; raises if there is no other."""
        was_sent = not isinstance(failure, NOT_SENT)
        self._uncertain = self._uncertain or was_sent
        wait = self._wait(None)
        if (was_sent and not self._call.repeatable) or wait is None:
            raise self._ended(self._no_answer(failure)) from failure
        return wait

    def after_stranger(self, answer: Answer) -> float:
        """How long to wait after something else than the service answered: a portal, a proxy, half a body."""
        self._uncertain = True
        is_busy = answer.status in WORTH_ANOTHER_TRY
        wait = self._wait(retry_after(answer.headers.get("retry-after")) if is_busy else None)
        if not self._call.repeatable or wait is None:
            kind = answer.headers.get("content-type", "no type")
            raise self._ended(
                APIConnectionError(
                    f"Something other than Gatepass answered ({answer.status}, {kind}). Check the network."
                )
            )
        return wait

    def after_refusal(self, answer: Answer) -> float:
        """How long to wait after a refusal that may pass; raises it if it is final or there is no time."""
        hint = answer.headers.get(SHOULD_RETRY)
        passes = hint == "true" if hint is not None else answer.status in WORTH_ANOTHER_TRY
        if answer.status >= 500:
            self._uncertain = True
        refusal = refusal_of(answer)
        wait = self._wait(refusal.retry_after) if passes else None
        if wait is None or (self._uncertain and not self._call.repeatable):
            is_definite = answer.status in KEPT
            raise self._ended(refusal, unknown=self._uncertain and not is_definite)
        return wait

    def _wait(self, asked: float | None) -> float | None:
        """None if there are no tries left, or no time for another."""
        self._failed += 1
        if self._failed > self._patience.max_retries:
            return None
        backoff = min(FIRST_WAIT * 2 ** (self._failed - 1), LONGEST_WAIT) * (1 - 0.25 * self._chance())
        wait = max(asked or 0.0, backoff)
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

    def _ended(self, error: GatepassError, *, unknown: bool | None = None) -> GatepassError:
        error.idempotency_key = self._call.idempotency_key
        error.outcome_unknown = self._uncertain if unknown is None else unknown
        return error


def refusal_of(answer: Answer) -> APIStatusError:
    """What the service refused, by name."""
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
    """Seconds, from a number or a date."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None
