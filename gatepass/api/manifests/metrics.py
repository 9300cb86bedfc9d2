"""Metrics of manifests."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class ManifestMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.streams = Gauge("gatepass_manifest_streams", "Devices that follow a manifest now", registry=registry)
        self.made = Counter("gatepass_manifests_made", "Manifests that were made whole", registry=registry)
        self.disagreements = Counter(
            "gatepass_manifest_disagreements",
            "Manifests that differed from their event; never, unless there is a fault",
            registry=registry,
        )
