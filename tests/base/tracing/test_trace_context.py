"""`traceparent`, as W3C Trace Context defines it."""

import pytest

from gatepass.base.tracing.trace_context import LONGEST, trace_parent

TRACE = b"4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = b"00f067aa0ba902b7"
GOOD = b"00-%s-%s-01" % (TRACE, SPAN)

MALFORMED = {
    "empty": b"",
    "upper case": GOOD.upper(),
    "no trace": b"00-%s-%s-01" % (b"0" * 32, SPAN),
    "no span": b"00-%s-%s-01" % (TRACE, b"0" * 16),
    "version ff": b"ff-%s-%s-01" % (TRACE, SPAN),
    "more fields in version 00": GOOD + b"-more",
    "a dash more": GOOD + b"-",
    "a later version without a dash": b"01" + GOOD[2:] + b"more",
    "short trace": b"00-%s-%s-01" % (TRACE[1:], SPAN),
    "long trace": b"00-%s0-%s-01" % (TRACE, SPAN),
    "short span": b"00-%s-%s-01" % (TRACE, SPAN[1:]),
    "no flags": GOOD[:-3],
    "one digit of flags": GOOD[:-1],
    "not hexadecimal": GOOD.replace(b"b", b"g"),
    "a space before": b" " + GOOD,
    "a line break": GOOD + b"\n",
    "a NUL": GOOD + b"\0",
    "not ASCII": GOOD[:-2] + "\N{FULLWIDTH DIGIT ZERO}\N{FULLWIDTH DIGIT ONE}".encode(),
    "long": b"01" + GOOD[2:] + b"-" + b"a" * LONGEST,
    "huge": b"0" * 60_000,
    "two in one": GOOD + b"," + GOOD,
}


def test_the_callers_span_is_found_among_other_headers() -> None:
    found = trace_parent([(b"host", b"x"), (b"traceparent", GOOD), (b"tracestate", b"a=b")])
    assert found == (TRACE.decode(), SPAN.decode(), True)


@pytest.mark.parametrize(("flags", "expected"), [(b"00", False), (b"01", True), (b"02", False), (b"ff", True)])
def test_the_first_flag_is_that_of_sampling(flags: bytes, expected: bool) -> None:
    found = trace_parent([(b"traceparent", GOOD[:-2] + flags)])
    assert found is not None
    assert found.is_sampled is expected


@pytest.mark.parametrize("value", [b"01" + GOOD[2:], b"cc" + GOOD[2:] + b"-what-comes-later"])
def test_a_later_version_is_read_as_far_as_it_is_known(value: bytes) -> None:
    assert trace_parent([(b"traceparent", value)]) == (TRACE.decode(), SPAN.decode(), True)


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_one_is_none(name: str) -> None:
    assert trace_parent([(b"traceparent", MALFORMED[name])]) is None


def test_two_are_none() -> None:
    assert trace_parent([(b"traceparent", GOOD), (b"traceparent", GOOD)]) is None


def test_without_one_there_is_none() -> None:
    assert trace_parent([(b"host", b"x")]) is None
