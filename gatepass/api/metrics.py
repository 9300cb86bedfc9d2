"""Metrics for Prometheus, on a port of their own. Labels are bounded: path templates, never paths; codes, never ids."""

from bisect import bisect_left
from collections import Counter as Counts
from collections.abc import Iterator
from itertools import accumulate
from typing import Final
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from gatepass.api.request import ApiCall
from gatepass.api.responses import InternalError
from gatepass.base.errors import CAUSES
from gatepass.domain.keys import Mode

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
# These begin at 0: of a series that begins later, Prometheus does not see the first increase, which may be all of it.
SCANS_FAILED: Final = [("POST", "/scan", status, mode) for status in (500, 503) for mode in (*Mode, "none")]


class Calls(Collector):
    """Calls and their durations. Only the event loop counts, so there is no lock, which a scan would notice."""

    def __init__(self) -> None:
        self._calls: Counts[tuple[str, str, int, str]] = Counts(dict.fromkeys(SCANS_FAILED, 0))
        self._times: dict[tuple[str, str], list[float]] = {}

    def count(self, call: ApiCall) -> None:
        seconds = call.elapsed_us() / 1_000_000
        self._calls[call.method, call.path, call.status, call.caller.mode if call.caller else "none"] += 1
        times = self._times.get((call.method, call.path))
        if times is None:
            times = self._times[call.method, call.path] = [0.0] * (len(BUCKETS) + 2)
        times[bisect_left(BUCKETS, seconds)] += 1
        times[-1] += seconds

    def collect(self) -> Iterator[Metric]:
        calls = CounterMetricFamily("gatepass_calls", "Answered calls", labels=["method", "path", "status", "mode"])
        for (method, path, status, mode), count in list(self._calls.items()):
            calls.add_metric([method, path, str(status), mode], count)
        yield calls
        seconds = HistogramMetricFamily("gatepass_call_seconds", "Time to answer", labels=["method", "path"])
        for name, (*counts, total) in list(self._times.items()):
            bounds = [*map(str, BUCKETS), "+Inf"]
            seconds.add_metric(name, list(zip(bounds, accumulate(counts), strict=True)), total)
        yield seconds


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.calls = Calls()
        self.registry.register(self.calls)
        self.refusals = Counter("gatepass_refusals", "Refused calls by code", ["code"], registry=self.registry)
        self.refusals.labels(InternalError.code)
        self.unavailable = Counter(
            "gatepass_unavailable", "Calls answered with 503, by cause", ["cause"], registry=self.registry
        )
        for cause in CAUSES:
            self.unavailable.labels(cause)
        self.failed_authentications = Counter(
            "gatepass_failed_authentications", "Calls without a good key", registry=self.registry
        )
        self.rows_lost = Counter(
            "gatepass_request_log_rows_lost",
            "Reads whose row of the request log found no room while the database was away",
            registry=self.registry,
        )
        # Registered by SharedLimits: a process without them does not have this metric.
        self.limits_shared = Gauge(
            "gatepass_limits_shared", "1 while rate limits are shared between processes", registry=None
        )
        self.in_flight = 0
        Gauge("gatepass_calls_in_flight", "Calls being answered now", registry=self.registry).set_function(
            lambda: self.in_flight
        )

    def count(self, call: ApiCall) -> None:
        """Count an answered call."""
        self.calls.count(call)
        if call.code:
            self.refusals.labels(call.code).inc()
        if call.cause:
            self.unavailable.labels(call.cause).inc()

    def serve(self, host: str, port: int) -> WSGIServer:
        server, _ = start_http_server(port, addr=host, registry=self.registry)
        return server
