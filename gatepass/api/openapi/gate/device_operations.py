"""Notes about the operations on devices, and what devices call themselves."""

from typing import Final

from gatepass.api.openapi import responses
from gatepass.api.openapi.gate import device_examples as shown
from gatepass.api.openapi.notes import BAD_CURSOR, BAD_LIMIT, CURSOR, LIMIT, Notes, body, path, query
from gatepass.api.responses import NotFound, RequestTooLarge
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain.devices import DeviceNotFound, DeviceStatus
from gatepass.domain.events import EventNotFound
from gatepass.domain.keys import Scope

DEVICE_ID: Final = path("id", "The device's UUID.", str(shown.ID))
EVENT: Final = query("event_id", "Only devices that work for this event.", {"type": "string", "format": "uuid"})
STATUS: Final = query("status", "Only devices with this status.", {"type": "string", "enum": list(DeviceStatus)})

BAD_EVENT: Final = InvalidRequest("event_id is not a UUID.", param="event_id")
# An id with a slash in it is another path, which does not exist.
UNKNOWN: Final = (DeviceNotFound(), NotFound())

# By the name of the route's function.
NOTES: Final[dict[str, Notes]] = {
    "list_devices": Notes(
        id="list_devices",
        summary="List devices",
        description=(
            "The devices of the key's organization and mode, the last paired first. With a filter a page may be short "
            "and not the last: go by `has_more`. Devices are paired in the studio."
        ),
        scope=Scope.ADMIN,
        success="A page of devices.",
        shown=shown.DEVICES,
        refusals=(
            BAD_LIMIT,
            BAD_CURSOR,
            BAD_EVENT,
            InvalidRequest(f"status is one of {', '.join(DeviceStatus)}.", param="status"),
        ),
        parameters=(LIMIT, CURSOR, EVENT, STATUS),
        headers=(responses.LINK,),
    ),
    "device": Notes(
        id="retrieve_device",
        summary="Retrieve a device",
        description="One device of the key's organization and mode.",
        scope=Scope.ADMIN,
        success="The device.",
        shown=shown.ONE_DEVICE,
        refusals=UNKNOWN,
        parameters=(DEVICE_ID,),
    ),
    "change_device": Notes(
        id="update_device",
        summary="Update a device",
        description=(
            "Rename a device, or move it to another event or gate. It works for them from its next request on, with "
            "the key that it has. Absent fields stay as they are."
        ),
        scope=Scope.ADMIN,
        success="The changed device.",
        shown=shown.ONE_DEVICE,
        refusals=(
            BAD_EVENT,
            RequestTooLarge(),
            *UNKNOWN,
            EventNotFound(),
            NotAllowedFromHere("A device that is retired cannot be changed. Pair it again."),
        ),
        parameters=(DEVICE_ID,),
        body=body("DeviceChangeRequest", shown.TO_CHANGE),
    ),
    "retire_device": Notes(
        id="retire_device",
        summary="Retire a device",
        description=(
            "End the work of a device. It scans no more, and may upload what its journal still holds, for 72 hours at "
            "most. Retiring it again changes nothing."
        ),
        scope=Scope.ADMIN,
        success="The retired device.",
        shown=shown.RETIRED,
        refusals=(*UNKNOWN, NotAllowedFromHere("A device that is revoked cannot be retired.")),
        parameters=(DEVICE_ID,),
    ),
    "revoke_device": Notes(
        id="revoke_device",
        summary="Revoke a device",
        description=(
            "For a device that is lost or stolen: every process refuses its very next request. What its journal holds "
            "comes in only after it was paired again, and then opens incidents only."
        ),
        scope=Scope.ADMIN,
        success="The revoked device.",
        shown=shown.REVOKED,
        refusals=UNKNOWN,
        parameters=(DEVICE_ID,),
    ),
    "heartbeat": Notes(
        id="create_heartbeat",
        summary="Send a heartbeat",
        description=(
            "A device says what time it has and how many scans wait in its journal. It learns our time, what it works "
            "for, and how to decide without a network. What it says is stored once in 5 seconds at most."
        ),
        scope=None,
        success="What the device works for.",
        shown=shown.HEARTBEAT,
        refusals=(
            InvalidRequest("at is not an RFC 3339 time with an offset.", param="at"),
            RequestTooLarge(),
        ),
        body=body("HeartbeatRequest", shown.TO_BEAT),
    ),
}
