"""POST /devices/heartbeat: a device says how it is, and learns the time and what it works for."""

from typing import Annotated, Final, Literal

import msgspec
from fastapi import APIRouter, Request

from gatepass.api.auth import State, call_of, needs_device, require_device
from gatepass.api.request import RawRequest, decoded, moment
from gatepass.api.routes.devices.registry import TAG, DeviceOut
from gatepass.api.schemas import Data, Moment, Wire
from gatepass.domain.devices import Heartbeat, beat
from gatepass.domain.devices.device import APP_LENGTH, required_app
from gatepass.domain.keys import Caller

router = APIRouter(tags=[TAG])

# Without an answer after this long a device decides by itself: a guest at a door waits no longer.
ANSWER_WITHIN_MS: Final = 1_500
MOST_QUEUED: Final = 10_000_000


class HeartbeatIn(msgspec.Struct, frozen=True):
    at: Annotated[str, msgspec.Meta(max_length=64)]
    queued: Annotated[int, msgspec.Meta(ge=0, le=MOST_QUEUED)]
    app: Annotated[str, msgspec.Meta(min_length=1, max_length=APP_LENGTH)] | None = None


class DeviceEventOut(Wire):
    ends_at: Moment
    doors_open_at: Moment | None


class DeviceSettingsOut(Wire):
    offline: Literal["manifest", "signature", "stop"]
    answer_within_ms: int


class HeartbeatOut(Wire):
    now: Moment
    device: DeviceOut
    event: DeviceEventOut | None
    settings: DeviceSettingsOut

    @classmethod
    def of(cls, heartbeat: Heartbeat, now: Moment) -> "HeartbeatOut":
        event = heartbeat.event
        return cls(
            now=now,
            device=DeviceOut.of(heartbeat.device),
            event=DeviceEventOut(ends_at=event.ends_at, doors_open_at=event.doors_open_at) if event else None,
            settings=DeviceSettingsOut(
                offline=event.offline if event else "stop",  # pyright: ignore[reportArgumentType]  checked by the table
                answer_within_ms=ANSWER_WITHIN_MS,
            ),
        )


@router.post("/devices/heartbeat")
async def heartbeat(request: Request, caller: Annotated[Caller, needs_device()], state: State) -> Data[HeartbeatOut]:
    """Store the device's clock and queue. Retired devices call it too, while they upload."""
    raw = RawRequest(request.scope, request.receive)
    body, call = decoded(await raw.body(), HEARTBEAT), call_of(request)
    device_time, app = moment(body.at, "at"), None if body.app is None else required_app(body.app)
    device = require_device(caller)
    async with state.db.autocommit(writes=True) as tx:
        found = await beat(
            tx,
            caller.organization_id,
            caller.mode,
            device,
            device_time=device_time,
            queued=body.queued,
            app=app,
            at=call.at,
        )
    call.event_id = device.event_id
    return Data(data=HeartbeatOut.of(found, state.clock()))


HEARTBEAT: Final = msgspec.json.Decoder(HeartbeatIn)
