"""Devices at the gates: how they are paired, what they work for, and how they end."""

from gatepass.domain.devices.assignment import Assignment, assignments_of, gates_of
from gatepass.domain.devices.device import Device, DeviceNotFound, DeviceStatus
from gatepass.domain.devices.editing import change
from gatepass.domain.devices.ending import retire, revoke
from gatepass.domain.devices.heartbeat import Heartbeat, beat
from gatepass.domain.devices.listing import devices_of, find_device, lock_device, seen_since
from gatepass.domain.devices.pairing import InvalidSignature, PairingEnded, PairingNotFound
from gatepass.domain.devices.registration import issue_key, pair_now, register, require_permission

__all__ = [
    "Assignment",
    "Device",
    "DeviceNotFound",
    "DeviceStatus",
    "Heartbeat",
    "InvalidSignature",
    "PairingEnded",
    "PairingNotFound",
    "assignments_of",
    "beat",
    "change",
    "devices_of",
    "find_device",
    "gates_of",
    "issue_key",
    "lock_device",
    "pair_now",
    "register",
    "require_permission",
    "retire",
    "revoke",
    "seen_since",
]
