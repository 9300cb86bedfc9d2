"""Sampling: a draw of our own, and a bounded number of calls whose callers ask."""

from uuid import UUID

from prometheus_client import CollectorRegistry

from gatepass.base.tracing.exporter import Exporter
from gatepass.base.tracing.tracer import Tracer
from tests.base.tracing.test_trace_context import GOOD, SPAN, TRACE

CALLS = 100_000
OWN = UUID(int=1)


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def tracer(ratio: float, by_callers: int, time: Time | None = None) -> Tracer:
    exporter = Exporter("http://127.0.0.1:1/v1/traces", "test", "a", CollectorRegistry())
    return Tracer(exporter, ratio=ratio, by_callers=by_callers, monotonic=time or Time())


def traced(chosen: Tracer, calls: int, *headers: tuple[bytes, bytes]) -> int:
    return sum(chosen.call(headers, OWN, "GET") is not None for _ in range(calls))


def test_the_ratio_is_kept() -> None:
    # Six standard deviations of a binomial distribution: sqrt(n p (1 - p)).
    assert abs(traced(tracer(0.01, 10), CALLS) - 1000) < 6 * 32


def test_nothing_and_everything() -> None:
    assert traced(tracer(0, 0), 1000, (b"traceparent", GOOD)) == 0
    assert traced(tracer(1, 0), 1000) == 1000


def test_callers_that_ask_get_so_many_a_second() -> None:
    time = Time()
    chosen = tracer(0, 10, time)
    assert traced(chosen, 1000, (b"traceparent", GOOD)) == 10
    time.now = 1.0
    assert traced(chosen, 1000, (b"traceparent", GOOD)) == 10


def test_callers_that_do_not_ask_are_drawn_like_others() -> None:
    header = (b"traceparent", GOOD[:-2] + b"00")
    assert traced(tracer(0, 10), 1000, header) == 0
    assert abs(traced(tracer(0.01, 10), CALLS, header) - 1000) < 6 * 32


def test_no_trace_id_is_drawn_more_often() -> None:
    """A sampler that goes by the id of the trace would let callers choose one that is always traced."""
    for id in (b"0" * 31 + b"1", b"f" * 32):
        header = (b"traceparent", b"00-%s-%s-00" % (id, SPAN))
        assert abs(traced(tracer(0.01, 10), CALLS, header) - 1000) < 6 * 32


def test_a_call_goes_on_in_the_trace_of_its_caller() -> None:
    span = tracer(1, 0).call([(b"traceparent", GOOD)], OWN, "GET")
    assert span is not None
    assert (span.trace_id, span.parent_id) == (TRACE.decode(), SPAN.decode())


def test_without_one_the_trace_is_its_own() -> None:
    span = tracer(1, 0).call([], OWN, "GET")
    assert span is not None
    assert (span.trace_id, span.parent_id) == (OWN.hex, "")
