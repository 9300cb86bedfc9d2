"""The parts of `gatepass-cli listen`: the feed that it reads, the forwarder, and its state between two starts."""
