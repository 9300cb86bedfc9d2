"""Devices at the gates, as the service shows them. `models.py` has them too."""

from dataclasses import dataclass
from datetime import datetime

from gatepass_sdk._decode import Model


@dataclass(frozen=True, kw_only=True)
class Device(Model):
    """A phone or a reader at a gate. `status` is `paired`, `retired` or `revoked`.

    `queued` scans waited on it at its last heartbeat, and its clock was ahead of the service's by `clock_offset_ms`.
    """

    id: str
    name: str
    event_id: str
    gate: str
    status: str
    paired_at: datetime
    paired_by: str
    last_seen_at: datetime | None
    queued: int | None
    clock_offset_ms: int | None
    app: str | None


@dataclass(frozen=True, kw_only=True)
class DeviceEvent(Model):
    """The times of a device's event. Without `doors_open_at` the doors are open."""

    ends_at: datetime
    doors_open_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class DeviceSettings(Model):
    """How a device decides. `offline` is `manifest`, `signature` or `stop`: whom it admits without a network."""

    offline: str
    answer_within_ms: int


@dataclass(frozen=True, kw_only=True)
class Heartbeat(Model):
    """The answer to a heartbeat: the service's time, and what the device works for."""

    now: datetime
    device: Device
    event: DeviceEvent | None
    settings: DeviceSettings
