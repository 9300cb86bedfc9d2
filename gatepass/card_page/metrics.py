"""Metrics of card pages for Prometheus. A process that also serves the API shows them beside those of the API."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server
from prometheus_client.core import Metric
from prometheus_client.registry import Collector


class Metrics(Collector):
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.answers = Counter(
            "gatepass_card_page_answers",
            "Answers to the holders of cards, by route and status",
            ["route", "status"],
            registry=self.registry,
        )
        self.limited = Counter(
            "gatepass_card_page_limited",
            "Requests to card pages that were refused because there were too many, by what was limited",
            ["limit"],
            registry=self.registry,
        )
        self.streams = Gauge("gatepass_card_page_streams", "Card pages that are open now", registry=self.registry)

    def collect(self) -> Iterable[Metric]:
        return self.registry.collect()

    @contextmanager
    def served(self, host: str, port: int) -> Generator[None]:
        """Serve them on a port of their own, for a process that serves card pages alone. Port 0 serves none."""
        if not port:
            yield
            return
        server, _ = start_http_server(port, addr=host, registry=self.registry)
        yield
        server.shutdown()
        server.server_close()
