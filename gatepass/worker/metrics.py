"""Prometheus metrics of deliveries, on a port of their own. Labels are bounded: outcomes, lanes, and few endpoints."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from wsgiref.simple_server import WSGIServer
from wsgiref.types import StartResponse, WSGIEnvironment

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from gatepass.base.clock import SKEW_METRIC, ClockSkew
from gatepass.domain.webhooks.backlog import LaneAge
from gatepass.domain.webhooks.queue import AttemptError, State
from gatepass.worker.delivery import SECRET_LOCKED

SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600, 21600, 86400, 259200)
# The lanes with the oldest messages are exported one by one; the others are in the maximum.
EXPORTED: Final = 20


class WorkerMetrics:
    def __init__(self, skew: ClockSkew) -> None:
        self.registry = CollectorRegistry()
        self.attempts = Counter(
            "gatepass_webhook_attempts", "Attempts to deliver, by outcome", ["outcome"], registry=self.registry
        )
        # They begin at 0: of a series that begins later, Prometheus does not see the first increase.
        for outcome in (State.DELIVERED, SECRET_LOCKED, AttemptError.INTERNAL):
            self.attempts.labels(outcome)
        self.delivered_after = Histogram(
            "gatepass_webhook_delivered_seconds",
            "From the commit of an event to the 2xx of its receiver",
            ["attempt"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.delivered_first = self.delivered_after.labels("first")
        self.delivered_later = self.delivered_after.labels("later")
        self.lapsed = Counter(
            "gatepass_webhook_claims_lapsed",
            "Claims that were given up or lost to another worker",
            registry=self.registry,
        )
        self._oldest = Gauge(
            "gatepass_webhook_oldest_seconds",
            "Age of the oldest undelivered message, of the lanes where it is highest",
            ["lane", "endpoint"],
            registry=self.registry,
        )
        self._oldest_of_all = Gauge(
            "gatepass_webhook_oldest_seconds_max",
            "Age of the oldest undelivered message in any lane of this kind",
            ["lane"],
            registry=self.registry,
        )
        self._waiting = Gauge(
            "gatepass_webhook_waiting", "Messages that wait to be delivered", ["lane"], registry=self.registry
        )

        self.maintenance_rounds = Counter(
            "gatepass_maintenance_rounds", "Rounds of maintenance that this worker has finished", registry=self.registry
        )
        self.partitions_missing = Gauge(
            "gatepass_partitions_missing",
            "Partitions for now and next that do not exist, as the worker sees it that does the maintenance",
            registry=self.registry,
        )
        self.wallet_pushes = Counter(
            "gatepass_wallet_pushes",
            "Phones that were told of a changed pass, by outcome",
            ["outcome"],
            registry=self.registry,
        )
        for outcome in ("told", "gone", "refused", "failed"):
            self.wallet_pushes.labels(outcome)
        self.wallet_certificate_ends = Gauge(
            "gatepass_wallet_certificate_end_timestamp_seconds",
            "When the certificate for Apple Wallet ends, in Unix seconds; 0 without one",
            registry=self.registry,
        )
        Gauge(*SKEW_METRIC, registry=self.registry).set_function(skew.seconds)
        self._ready = Gauge("gatepass_ready", "1 while /readyz answers 200", registry=self.registry)

    def export_ages(self, ages: Sequence[LaneAge]) -> None:
        """Only workers that had the maintenance lock in the last 30 s export them: none, or two. Take the maximum."""
        for gauge in (self._oldest, self._oldest_of_all, self._waiting):
            gauge.clear()
        for age in sorted(ages, key=lambda age: age.seconds, reverse=True)[:EXPORTED]:
            self._oldest.labels(age.kind, str(age.endpoint_id)).set(age.seconds)
        for kind in {age.kind for age in ages}:
            alike = [age for age in ages if age.kind == kind]
            self._oldest_of_all.labels(kind).set(max(age.seconds for age in alike))
            self._waiting.labels(kind).set(sum(age.waiting for age in alike))

    def serve(self, host: str, port: int, trouble: Callable[[], str | None]) -> WSGIServer:
        """Metrics, and /readyz beside them: a worker has no other port."""
        self._ready.set_function(lambda: trouble() is None)
        server, _ = start_http_server(port, addr=host, registry=self.registry)
        metrics = server.get_app()
        assert metrics is not None  # noqa: S101  the line above has set it

        def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            if environ["PATH_INFO"] != "/readyz":
                return metrics(environ, start_response)
            reason = trouble()
            answer = {"status": "ok"} if reason is None else {"status": "unavailable", "reason": reason}
            status = "200 OK" if reason is None else "503 Service Unavailable"
            start_response(status, [("content-type", "application/json")])
            return [json.dumps(answer).encode()]

        server.set_app(app)
        return server
