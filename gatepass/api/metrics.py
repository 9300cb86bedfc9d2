"""What Prometheus sees, on a port of its own. Labels are bounded: templates, never paths; codes, never ids."""

from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.calls = Counter(
            "gatepass_calls", "Answered calls", ["method", "path", "status", "mode"], registry=self.registry
        )
        self.seconds = Histogram(
            "gatepass_call_seconds",
            "Time to answer",
            ["method", "path"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.refusals = Counter("gatepass_refusals", "Refused calls by code", ["code"], registry=self.registry)
        self.failed_authentications = Counter(
            "gatepass_failed_authentications", "Calls without a good key", registry=self.registry
        )
        self.audit_lost = Counter(
            "gatepass_audit_rows_lost",
            "Reads whose audit row found no room while the database was away",
            registry=self.registry,
        )
        self.in_flight = Gauge("gatepass_calls_in_flight", "Calls being answered now", registry=self.registry)

    def serve(self, host: str, port: int) -> WSGIServer:
        server, _ = start_http_server(port, addr=host, registry=self.registry)
        return server
