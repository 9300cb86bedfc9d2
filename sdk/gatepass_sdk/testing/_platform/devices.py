"""Devices: listed, moved, ended; and their heartbeats. Their keys open little, and only for their own event."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._body_reader import Fields, Number, Text, read_body, read_moment, read_uuid
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._paging import page_of, page_size, page_start
from gatepass_sdk.testing._platform.records import DeviceRecord
from gatepass_sdk.testing._platform.text import is_line
from gatepass_sdk.testing._state import World
from gatepass_sdk.testing._times import rfc3339

STATUSES: Final = ("paired", "retired", "revoked")
OVER: Final = ("cancelled", "ended")
CHANGE: Final[Fields] = {
    "name": Text(100, 1, nullable=True),
    "event_id": Text(nullable=True),
    "gate": Text(64, 1, nullable=True),
}
HEARTBEAT: Final[Fields] = {
    "at": Text(64, needed=True),
    "queued": Number(10_000_000, needed=True),
    "app": Text(100, 1, nullable=True),
}


def list_devices(world: World, request: Request) -> Reply:
    """The last paired first."""
    size_and_start = page_size(request), page_start(request)
    event_id, status = _event_id(request.query.get("event_id")), request.query.get("status")
    if status is not None and status not in STATUSES:
        raise invalid(f"status is one of {', '.join(STATUSES)}.", "status")
    found = [
        one
        for one in world.sides[request.mode].devices
        if event_id in (None, one.event_id) and status in (None, one.status)
    ]
    filters = {"event_id": request.query.get("event_id"), "status": status}
    return page_of(
        request,
        found,
        lambda one: one.position,
        lambda one: one.shown(),
        size_and_start,
        newest_first=True,
        filters=filters,
    )


def retrieve_device(world: World, request: Request) -> Reply:
    return Reply(200, {"data": find_device(world, request).shown()})


def update_device(world: World, request: Request) -> Reply:
    """Change the given fields only."""
    _device_id(request)
    body = read_body(request.body, CHANGE)
    event_id = _event_id(body.get("event_id"))
    if event_id is not None:
        _require_open(world, request, event_id)
    device = find_device(world, request)
    if device.status != "paired":
        raise Refused("not_allowed", f"A device that is {device.status} cannot be changed. Pair it again.")
    device.name = _line(body.get("name") or device.name, "name", 100)
    device.gate = _line(body.get("gate") or device.gate, "gate", 64)
    device.event_id = event_id or device.event_id
    return Reply(200, {"data": device.shown()})


def retire_device(world: World, request: Request) -> Reply:
    device = find_device(world, request)
    if device.status == "revoked":
        raise Refused("not_allowed", "A device that is revoked cannot be retired.")
    device.status = "retired"
    return Reply(200, {"data": device.shown()})


def revoke_device(world: World, request: Request) -> Reply:
    device = find_device(world, request)
    device.status = "revoked"
    return Reply(200, {"data": device.shown()})


def heartbeat(world: World, request: Request) -> Reply:
    """Store the device's clock and queue; what it works for."""
    body, device, now = read_body(request.body, HEARTBEAT), request.device, world.now()
    assert device is not None  # noqa: S101  the router lets nobody else in
    at = read_moment(body["at"], "at")
    device.last_seen_at, device.queued = now, int(body["queued"])
    device.clock_offset_ms, device.app = _milliseconds(at, now), body.get("app") or device.app
    event = next((one for one in world.sides[request.mode].events if one["id"] == str(device.event_id)), None)
    data = {
        "now": rfc3339(now),
        "device": device.shown(),
        "event": event and {"ends_at": event["ends_at"], "doors_open_at": event.get("doors_open_at")},
        "settings": {
            "offline": event.get("offline", "manifest") if event else "stop",
            "answer_within_ms": 1_500,
        },
    }
    return Reply(200, {"data": data})


def find_device(world: World, request: Request) -> DeviceRecord:
    wanted = _device_id(request)
    for device in world.sides[request.mode].devices:
        if device.id == wanted:
            return device
    raise Refused("device_not_found")


def _device_id(request: Request) -> UUID:
    found = read_uuid(request.ids[0])
    if found is None:
        raise Refused("device_not_found")
    return found


def _event_id(text: Any) -> UUID | None:
    found = None if text is None else read_uuid(text)
    if text is not None and found is None:
        raise invalid("event_id is not a UUID.", "event_id")
    return found


def _require_open(world: World, request: Request, event_id: UUID) -> None:
    event = next((one for one in world.sides[request.mode].events if one["id"] == str(event_id)), None)
    if event is None:
        raise Refused("event_not_found")
    if event["status"] in OVER:
        raise Refused("not_allowed", f"An event that is {event['status']} takes no devices.")


def _line(text: str, param: str, most: int) -> str:
    text = text.strip()
    if not is_line(text):
        raise invalid(f"{param} has 1 to {most} printable characters.", param)
    return text


def _milliseconds(at: datetime, now: datetime) -> int:
    return round((at - now) / timedelta(milliseconds=1))
