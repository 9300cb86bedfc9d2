"""What Prometheus sees of the studio. Where a process opens both doors, the API shows it beside its own figures."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server
from prometheus_client.core import Metric
from prometheus_client.registry import Collector


class Metrics(Collector):
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.doors_open = Gauge("gatepass_doors_open", "Screens that show a live door now", registry=self._registry)
        self.disagreements = Counter(
            "gatepass_door_disagreements",
            "Doors whose kept figures were not what a count of the table said; never, unless there is a fault",
            registry=self._registry,
        )

    def collect(self) -> Iterable[Metric]:
        return self._registry.collect()

    @contextmanager
    def served(self, host: str, port: int) -> Generator[None]:
        """On a port of its own, where the studio is alone; 0 is none."""
        if not port:
            yield
            return
        server, _ = start_http_server(port, addr=host, registry=self._registry)
        yield
        server.shutdown()
        server.server_close()
