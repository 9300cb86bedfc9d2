"""The manifests that this process gives to devices: made once for all of them, and followed by streams."""

from gatepass.api.manifests.follower import Answer, EventRef, Follower
from gatepass.api.manifests.hub import ManifestHub
from gatepass.api.manifests.stream import ManifestStream

__all__ = ["Answer", "EventRef", "Follower", "ManifestHub", "ManifestStream"]
