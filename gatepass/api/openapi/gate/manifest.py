"""Notes about the manifest of an event."""

from typing import Final

from gatepass.api.openapi import responses
from gatepass.api.openapi.notes import Notes, path, query
from gatepass.api.responses import NotFound
from gatepass.api.routes.gate.manifest import MEDIA_TYPE
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import sandbox
from gatepass.domain.cards import NoSigningKey
from gatepass.domain.events import EventNotActive, EventNotFound
from gatepass.domain.manifest.manifest import EXPIRED

EVENT_ID: Final = path("id", "The event's UUID.", str(sandbox.EVENT_ID))
AFTER: Final = query(
    "after", "The cursor of the last answer: only what changed since is sent.", {"type": "string", "maxLength": 6000}
)
IF_NONE_MATCH: Final = {
    "name": "If-None-Match",
    "in": "header",
    "description": (
        "The `state` of the manifest that the device has, as the `ETag` has it. After a failover or a restore a cursor "
        "cannot be followed: if the records are the same all the same, the answer is 304 with a new cursor."
    ),
    "schema": {"type": "string"},
}
REFUSALS: Final = (
    InvalidRequest("after is the cursor of an answer.", param="after"),
    EventNotFound(),
    NotFound(),
    EventNotActive(EXPIRED),
    NoSigningKey(),
    NotAllowedFromHere("An event with more than 2,000,000 tickets has no manifest."),
)
HEADERS: Final = (responses.ETAG, responses.CURSOR)
UNCHANGED: Final = {
    "304": responses.success(
        "Nothing has changed. `Gatepass-Cursor` has the cursor for the next call.", None, {}, HEADERS
    )
}

# By the name of the route's function.
NOTES: Final[dict[str, Notes]] = {
    "manifest": Notes(
        id="get_manifest",
        summary="Get an event's manifest",
        description=(
            "What a device needs to admit without a network: every card that has a ticket of the event, 8 bytes each, "
            "and what the rules say. It names nobody. Only the key of a device opens it, for its own event.\n\n"
            "The body is `SVCM`, the length of the header (4 bytes, big-endian), the header (JSON), the organization's "
            "Ed25519 signature (64 bytes) over `svc-manifest-1`, a zero byte and the header, then the records: "
            "6 bytes of HMAC-SHA-256(salt, card number), the category (255: no ticket in use), and the flags: 1 used, "
            "2 suspended, 4 revoked, 8 cancelled, and in the high four bits the number of the card's phone. They are "
            "sorted, to be searched in place.\n\n"
            "With `after`, the answer is of kind `changes`: whole records, which replace those with the same hash; one "
            "that ends in `FF 0F` is gone. After applying them, the SHA-256 of all records is the `state` of the "
            "header. If a cursor cannot be followed, the answer is a whole manifest."
        ),
        scope=None,
        success="The manifest, or what changed.",
        shown={},
        refusals=REFUSALS,
        parameters=(EVENT_ID, AFTER, IF_NONE_MATCH),
        headers=HEADERS,
        media_type=MEDIA_TYPE,
        more=UNCHANGED,
    ),
    "manifest_stream": Notes(
        id="follow_manifest",
        summary="Follow an event's manifest",
        description=(
            "Server-sent events, within two seconds of a change. `changes`: the data is the body of an answer of kind "
            "`changes` in base64, to be applied to what the device has. `whole`: fetch the manifest, and follow again "
            "with its cursor. A comment comes each 20 seconds. A stream ends after 15 minutes at the latest, and with "
            "the device's key."
        ),
        scope=None,
        success="The stream.",
        shown={},
        refusals=REFUSALS,
        parameters=(EVENT_ID, AFTER),
        media_type="text/event-stream",
    ),
}
