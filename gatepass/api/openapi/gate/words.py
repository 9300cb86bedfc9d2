"""The descriptions of the schemas of gates and devices, and of their fields."""

from typing import Final

from gatepass.api.openapi.gate.incident_words import INCIDENT_WORDS

GATE_WORDS: Final[dict[str, dict[str, str]]] = {
    **INCIDENT_WORDS,
    "DeviceList": {"": "A page of devices."},
    "DeviceResponse": {"": "One device."},
    "Device": {
        "": "A phone or a reader that scans at a gate, for one event.",
        "name": "As its lead knows it.",
        "event_id": "The only event that its key opens.",
        "gate": "Its scans are stored with this gate.",
        "paired_at": "When it was paired last.",
        "paired_by": "Who confirmed it.",
        "last_seen_at": "Its last heartbeat.",
        "clock_offset_ms": "How far its clock is ahead of ours.",
        "app": "The program that it runs.",
    },
    "DeviceStatus": {"": "A `retired` device only uploads its journal; a `revoked` one is refused everywhere."},
    "DeviceChangeRequest": {
        "": "What to change of a device.",
        "name": "As its lead knows it.",
        "event_id": "The event that it works for.",
        "gate": "The gate that it works for.",
    },
    "HeartbeatRequest": {
        "": "How a device is.",
        "at": "RFC 3339: the time on its clock.",
        "queued": "How many scans in its journal wait to be sent.",
        "app": "The program that it runs.",
    },
    "HeartbeatResponse": {"": "The answer to a heartbeat."},
    "Heartbeat": {
        "": "What a device works for.",
        "now": "Our time.",
        "device": "The device as we know it.",
        "event": "Its event; null if it was deleted.",
        "settings": "How it decides.",
    },
    "DeviceEvent": {
        "": "The times of a device's event.",
        "ends_at": "When it ends, or has ended.",
        "doors_open_at": "When the doors open; null: they are open.",
    },
    "DeviceSettings": {
        "": "How a device decides.",
        "offline": (
            "Whom it admits without a network: those whom its `manifest` knows, whoever shows a good `signature`, "
            "or nobody."
        ),
        "answer_within_ms": "Without our answer after so long, it decides by itself.",
    },
}
