"""Examples of devices, made by the response models."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel

from gatepass.api.openapi.examples import CURSOR, example
from gatepass.api.routes.devices.heartbeats import (
    ANSWER_WITHIN_MS,
    DeviceEventOut,
    DeviceSettingsOut,
    HeartbeatOut,
)
from gatepass.api.routes.devices.registry import DeviceOut
from gatepass.api.schemas import Data, Page
from gatepass.base.clock import rfc3339
from gatepass.domain import message_catalogue, sandbox
from gatepass.domain.devices import DeviceStatus

Json = dict[str, Any]

ID: Final = UUID(message_catalogue.AN_ID)
EVENT: Final = sandbox.CATALOGUE_ENTRY.event
AT: Final = EVENT.starts_at - timedelta(hours=2)

DEVICE: Final = DeviceOut(
    id=ID,
    name="North 2",
    event_id=EVENT.id,
    gate="North",
    status=DeviceStatus.PAIRED,
    paired_at=AT,
    paired_by=f"person {ID}",
    last_seen_at=AT,
    queued=0,
    clock_offset_ms=-120,
    app="gatepass-cli/0.3.0",
)


def _one(summary: str, model: BaseModel) -> dict[str, Json]:
    return {"live": example(summary, Data(data=model).model_dump(mode="json"))}


DEVICES: Final = {
    "live": example("A page of devices", Page(data=[DEVICE], has_more=True, next_cursor=CURSOR).model_dump(mode="json"))
}
ONE_DEVICE: Final = _one("A device", DEVICE)
RETIRED: Final = _one("It only uploads", DEVICE.model_copy(update={"status": DeviceStatus.RETIRED}))
REVOKED: Final = _one("It is refused", DEVICE.model_copy(update={"status": DeviceStatus.REVOKED}))
HEARTBEAT: Final = _one(
    "The device is at its gate",
    HeartbeatOut(
        now=AT,
        device=DEVICE,
        event=DeviceEventOut(ends_at=EVENT.ends_at, doors_open_at=None),
        settings=DeviceSettingsOut(offline="manifest", answer_within_ms=ANSWER_WITHIN_MS),
    ),
)
TO_CHANGE: Final = {"move": example("Move it to another gate", {"gate": "South"})}
TO_BEAT: Final = {
    "live": example("Three scans wait", {"at": rfc3339(AT), "queued": 3, "app": "gatepass-cli/0.3.0"}),
}
