"""The public names of the schemas of devices."""

from typing import Final

import msgspec

from gatepass.api.routes.devices.heartbeats import HeartbeatIn
from gatepass.api.routes.devices.registry import DeviceChange

DEVICE_NAMES: Final = {
    "Page_DeviceOut_": "DeviceList",
    "Data_DeviceOut_": "DeviceResponse",
    "DeviceOut": "Device",
    "DeviceStatus": "DeviceStatus",
    "Data_HeartbeatOut_": "HeartbeatResponse",
    "HeartbeatOut": "Heartbeat",
    "DeviceEventOut": "DeviceEvent",
    "DeviceSettingsOut": "DeviceSettings",
}
DEVICE_REQUESTS: Final[dict[str, type[msgspec.Struct]]] = {
    "DeviceChangeRequest": DeviceChange,
    "HeartbeatRequest": HeartbeatIn,
}
