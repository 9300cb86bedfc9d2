"""Retries: when a call is tried again. The clock and the jitter are given, and there is no network."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import pytest

from gatepass_sdk import (
    AlreadyUsed,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AuthenticationError,
    BadRequest,
    ChangedMeanwhile,
    Conflict,
    Expired,
    GatepassError,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerError,
    ValidationError,
)
from gatepass_sdk._call import Answer, Call, nothing
from gatepass_sdk._retry import KEPT_FOR_KEY, NOT_SENT, RetryPolicy, Tries, refusal_of, retry_after
from gatepass_sdk.errors import BY_CODE, class_of

SCAN: Call[Any] = Call("POST", "/scan", nothing, idempotency_key="k-1", is_scan=True)
READ: Call[Any] = Call("GET", "/events", nothing)
CREATE: Call[Any] = Call("POST", "/webhooks", nothing, repeatable=False)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def tries(call: Call[Any] = SCAN, *, jitter: float = 0.0, clock: Clock | None = None, **policy: Any) -> Tries:
    return Tries(call, RetryPolicy().with_changes(**policy), clock=clock or Clock(), jitter=lambda: jitter)


def answer(status: int, code: str = "some_code", **headers: str) -> Answer:
    body = json.dumps({"error": "No.", "code": code}).encode()
    return Answer(status, httpx2.Headers({name.replace("_", "-"): value for name, value in headers.items()}), body)


RETRIED = [408, 429, 500, 502, 503, 504]
FINAL_STATUSES = [400, 401, 403, 404, 405, 409, 410, 413, 422, 501]


@pytest.mark.parametrize("status", RETRIED)
def test_what_may_pass_is_tried_again(status: int) -> None:
    assert tries().after_refusal(answer(status)) > 0


@pytest.mark.parametrize("status", FINAL_STATUSES)
def test_what_is_decided_is_not_tried_again(status: int) -> None:
    with pytest.raises(APIStatusError) as refused:
        tries().after_refusal(answer(status))
    assert refused.value.status == status
    assert refused.value.idempotency_key == "k-1"
    assert refused.value.outcome_unknown is (status >= 500)


@pytest.mark.parametrize("status", [*RETRIED, *FINAL_STATUSES])
@pytest.mark.parametrize("word", ["true", "false", "TRUE", "yes"])
def test_the_service_decides_about_retries(status: int, word: str) -> None:
    once = tries()
    if word == "true":
        assert once.after_refusal(answer(status, x_svc_should_retry=word)) > 0
    else:
        with pytest.raises(APIStatusError):
            once.after_refusal(answer(status, x_svc_should_retry=word))


def test_a_used_ticket_is_never_asked_for_again_unless_the_service_says_so() -> None:
    for code in ("already_activated", "not_allowed"):
        for after_loss in (False, True):
            once = tries()
            if after_loss:
                once.after_failure(httpx2.ReadError("lost"))
            with pytest.raises(Conflict) as refused:
                once.after_refusal(answer(409, code))
            assert refused.value.outcome_unknown is False


@pytest.mark.parametrize("failed", range(1, 9))
def test_waits_grow_and_are_cut_by_jitter(failed: int) -> None:
    waits: list[float] = []
    for jitter in (0.0, 1.0):
        once = tries(READ, jitter=jitter, max_retries=100, deadline=1000)
        waits.append([once.after_refusal(answer(503)) for _ in range(failed)][-1])
    longest = min(0.1 * 2 ** (failed - 1), 2.0)
    assert waits == pytest.approx([longest, longest * 0.75])


def test_retry_after_is_waited_for_but_never_less_than_our_own_wait() -> None:
    assert tries().after_refusal(answer(429, retry_after="3")) == 3.0
    assert tries().after_refusal(answer(503, retry_after="0")) == pytest.approx(0.1)


def test_a_wait_past_the_deadline_is_not_begun() -> None:
    with pytest.raises(RateLimited) as refused:
        tries().after_refusal(answer(429, retry_after="9"))
    assert refused.value.retry_after == 9.0
    assert refused.value.outcome_unknown is False


def test_retry_after_may_be_a_date_and_nonsense_is_nothing() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after(soon) == pytest.approx(30, abs=2)
    assert retry_after(format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)) == 0.0
    for nonsense in (None, "", "soon", "-1", "1.5", "٣", "1e3"):
        assert retry_after(nonsense) is None, nonsense


def test_the_deadline_ends_everything() -> None:
    clock = Clock()
    once = tries(clock=clock)
    assert once.time_left == 8.0
    assert once.time_for_this_try == 3.5
    clock.now += 6
    assert once.time_for_this_try == pytest.approx(2.0)
    clock.now += 2
    assert once.time_left == 0.0
    assert once.time_for_this_try == 0.001
    with pytest.raises(APITimeoutError):
        once.after_failure(httpx2.ReadTimeout("late"))


def test_a_read_has_more_time_than_a_gate() -> None:
    assert tries(READ).time_left == 20.0
    assert tries(READ, deadline=5).time_left == 5.0
    assert tries(SCAN, deadline=5).time_left == 8.0


def test_tries_end_after_max_retries() -> None:
    once = tries(max_retries=2, scan_deadline=1000)
    once.after_refusal(answer(503))
    once.after_refusal(answer(503))
    with pytest.raises(ServerError) as refused:
        once.after_refusal(answer(503))
    assert refused.value.outcome_unknown


@pytest.mark.parametrize("failure", NOT_SENT)
def test_what_was_never_sent_did_nothing(failure: type[httpx2.TransportError]) -> None:
    with pytest.raises(APIConnectionError, match="cannot be reached") as lost:
        tries(max_retries=0).after_failure(failure("no"))
    assert lost.value.outcome_unknown is False
    assert tries(CREATE).after_failure(failure("no")) > 0


@pytest.mark.parametrize(
    "failure",
    [httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError, httpx2.ReadTimeout, httpx2.WriteTimeout],
)
def test_what_may_have_been_sent_may_have_happened(failure: type[httpx2.TransportError]) -> None:
    assert tries().after_failure(failure("no")) > 0
    with pytest.raises(APIConnectionError, match="may have been activated") as lost:
        tries(max_retries=0).after_failure(failure("no"))
    assert lost.value.outcome_unknown
    assert isinstance(lost.value, APITimeoutError) == issubclass(failure, httpx2.TimeoutException)
    with pytest.raises(APIConnectionError, match="No answer came back from Gatepass"):
        tries(CREATE).after_failure(failure("no"))


def test_a_call_that_must_not_happen_twice_is_repeated_only_if_it_was_not_done() -> None:
    assert tries(CREATE).after_refusal(answer(429)) > 0
    with pytest.raises(ServerError):
        tries(CREATE).after_refusal(answer(503))


def test_after_a_lost_answer_only_what_is_kept_for_the_key_is_certain() -> None:
    for status in FINAL_STATUSES[:-1]:
        once = tries()
        once.after_failure(httpx2.ReadError("lost"))
        with pytest.raises(APIStatusError) as refused:
            once.after_refusal(answer(status))
        assert refused.value.outcome_unknown is (status not in KEPT_FOR_KEY), status


@pytest.mark.parametrize("status", [200, 302, 404, 503])
def test_a_captive_portal_is_never_a_verdict(status: int) -> None:
    page = Answer(status, httpx2.Headers({"content-type": "text/html"}), b"<html>Pay for Wi-Fi</html>")
    assert not page.is_from_service
    assert tries().after_foreign_answer(page) > 0
    with pytest.raises(APIConnectionError, match=rf"other than Gatepass answered \({status}, text/html\)") as lost:
        tries(max_retries=0).after_foreign_answer(page)
    assert lost.value.outcome_unknown
    assert not isinstance(lost.value, APIStatusError)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{}", b'{"data"', b"\xff", b"[" * 100_000])
def test_half_an_answer_is_no_answer(body: bytes) -> None:
    assert not Answer(200, httpx2.Headers(), body).is_from_service
    assert not Answer(404, httpx2.Headers(), body).is_from_service


def test_an_empty_answer_is_ours_if_it_has_our_id() -> None:
    assert Answer(204, httpx2.Headers({"x-request-id": "req_1"}), b"").is_from_service
    assert not Answer(204, httpx2.Headers(), b"").is_from_service


def test_each_status_and_each_code_has_its_class() -> None:
    statuses = [400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 599]
    classes = [BadRequest, AuthenticationError, PermissionDenied, NotFound, Conflict, Expired, ValidationError]
    classes += [RateLimited, ServerError, ServerError, ServerError]
    for status, kind in zip(statuses, classes, strict=True):
        assert class_of(status, None) is kind
        assert class_of(status, "new_code") is kind
    assert class_of(418, None) is APIStatusError
    assert class_of(400, "already_activated") is class_of(409, "already_activated") is AlreadyUsed
    assert class_of(400, "expired") is Expired
    for code, kind in BY_CODE.items():
        # The sandbox answers some of them with 400.
        assert class_of(400, code) is kind
    assert class_of(412, None) is ChangedMeanwhile


def test_a_refusal_says_all_that_it_knows() -> None:
    body = {"error": "No.", "code": "x", "param": "gate", "details": {"gate": "N"}}
    headers = httpx2.Headers({"x-request-id": "req_1", "retry-after": "2"})
    error = refusal_of(Answer(400, headers, json.dumps(body).encode()))
    assert (error.status, error.code, error.param, error.details) == (400, "x", "gate", {"gate": "N"})
    assert (error.request_id, error.retry_after, error.message) == ("req_1", 2.0, "No.")
    assert str(error) == "No. (400 x req_1)"
    assert isinstance(error, GatepassError)
    bare = refusal_of(Answer(502, httpx2.Headers(), b'{"code":"x","details":[]}'))
    assert (bare.message, bare.details) == ("The service answered 502.", {})
