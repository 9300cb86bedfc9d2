"""Metrics of the studio for Prometheus. A process that also serves the API shows them beside those of the API."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server
from prometheus_client.core import Metric
from prometheus_client.registry import Collector


class Metrics(Collector):
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.live_viewers = Gauge("gatepass_live_viewers", "Screens that show a live page now", registry=self.registry)
        self.disagreements = Counter(
            "gatepass_live_disagreements",
            "Live pages whose kept figures were not what a count of the table said; never, unless there is a fault",
            registry=self.registry,
        )

    def collect(self) -> Iterable[Metric]:
        return self.registry.collect()

    @contextmanager
    def served(self, host: str, port: int) -> Generator[None]:
        """Serve them on a port of their own, for a process that runs the studio alone. Port 0 serves none."""
        if not port:
            yield
            return
        server, _ = start_http_server(port, addr=host, registry=self.registry)
        yield
        server.shutdown()
        server.server_close()
