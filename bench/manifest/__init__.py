"""Manifests: how long a large one takes, and what devices that follow cost."""
