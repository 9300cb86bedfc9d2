"""Examples of endpoints, deliveries and replays, made by the response models."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from pydantic import BaseModel

from gatepass.api.openapi.examples import example
from gatepass.api.routes.webhook_deliveries import AttemptOut, DeliveryDetailOut, DeliveryOut
from gatepass.api.routes.webhook_replays import ReplayCountOut, ReplayOut
from gatepass.api.routes.webhook_schemas import NewWebhookOut, RotatedWebhookOut, WebhookOut
from gatepass.api.schemas import Data, Page, packed
from gatepass.base.clock import rfc3339
from gatepass.domain import message_catalogue, sandbox
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import AttemptMade, Delivery, Endpoint, EndpointStatus, MessageType, Replay
from gatepass.domain.webhooks.queue import State

Json = dict[str, Any]

ID: Final = UUID(message_catalogue.AN_ID)
AT: Final = sandbox.CATALOGUE_ENTRY.event.starts_at
DAY: Final = timedelta(days=1)
URL: Final = "https://tickets.example.com/gatepass"
# No real secret: 32 bytes of text that say so.
SECRET: Final = "whsec_VGhpcyBpcyBhbiBleGFtcGxlLCBub3QgYSBzZWNyZXQ="  # noqa: S105

ENDPOINT: Final = Endpoint(
    id=ID,
    mode=Mode.LIVE,
    url=URL,
    types=[MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED],
    description="Our box office",
    status=EndpointStatus.ACTIVE,
    paused_reason=None,
    switches_at=None,
    retires_at=None,
    created_at=AT,
    failing_since=None,
)
ROTATING: Final = Endpoint(
    **{name: getattr(ENDPOINT, name) for name in ENDPOINT.__slots__ if name not in ("switches_at", "retires_at")},
    switches_at=AT + DAY,
    retires_at=AT + 2 * DAY,
)
DELIVERED: Final = Delivery(
    at=AT,
    id=ID,
    event_txid=1,
    event_id=ID,
    event_at=AT,
    type=MessageType.TICKET_ACTIVATED,
    ordering_key=ID,
    state=State.DELIVERED,
    attempts=1,
    next_at=None,
    ended_at=AT + timedelta(seconds=1),
    last_status=200,
    last_error=None,
    replay_id=None,
)
PENDING: Final = Delivery(
    at=AT,
    id=ID,
    event_txid=1,
    event_id=ID,
    event_at=AT,
    type=MessageType.PING,
    ordering_key=ID,
    state=State.PENDING,
    attempts=0,
    next_at=AT,
    ended_at=None,
    last_status=None,
    last_error=None,
    replay_id=None,
)
ATTEMPT: Final = AttemptMade(
    n=1,
    at=AT,
    status=200,
    error=None,
    address="198.51.100.7",
    dns_ms=2.5,
    connect_ms=31.0,
    answer_ms=48.5,
    total_ms=49.0,
    answer_head="ok",
)
REPLAY: Final = Replay(
    id=ID,
    since=AT - DAY,
    until=AT,
    types=None,
    states=[State.DELIVERED, State.FAILED],
    total=1200,
    done=500,
    created_at=AT,
    ended_at=None,
)
MESSAGE: Final = message_catalogue.example_of(message_catalogue.MESSAGES[0])


def _data(summary: str, model: BaseModel) -> Json:
    return {"example": example(summary, Data(data=model).model_dump(mode="json"))}


def _page(summary: str, *models: BaseModel) -> Json:
    return {
        "example": example(summary, Page(data=list(models), has_more=False, next_cursor=None).model_dump(mode="json"))
    }


WEBHOOKS: Final = _page("One endpoint", WebhookOut.of(ENDPOINT, AT))
WEBHOOK: Final = _data("An endpoint", WebhookOut.of(ENDPOINT, AT))
NEW_WEBHOOK: Final = _data("A new endpoint", NewWebhookOut.of(ENDPOINT, AT, secret=SECRET))
ROTATED: Final = {
    "issued": example(
        "A new secret is issued",
        Data(data=RotatedWebhookOut.of(ROTATING, AT, secret=SECRET)).model_dump(mode="json"),
    ),
    "switched": example(
        "It takes over", Data(data=RotatedWebhookOut.of(ROTATING, AT + DAY, secret=None)).model_dump(mode="json")
    ),
}
PINGED: Final = _data("A ping that is about to be sent", DeliveryOut.of(PENDING, ENDPOINT))
DELIVERIES: Final = _page("One delivery", DeliveryOut.of(DELIVERED, ENDPOINT))
DELIVERY: Final = _data(
    "A delivery that went well",
    DeliveryDetailOut.of(
        DELIVERED, ENDPOINT, attempts_made=[AttemptOut.of(ATTEMPT)], body=msgspec.json.encode(MESSAGE).decode()
    ),
)
REPLAYED: Final = _data("A replay that has begun", ReplayOut.of(REPLAY))
REPLAYS: Final = _page("One replay", ReplayOut.of(REPLAY))
COUNTED: Final = _data("How many there are", ReplayCountOut(total=REPLAY.total))
MARK: Final = packed(1203, ID)
MESSAGES: Final = {
    "more": example("One message, and more behind it", {"data": [MESSAGE], "has_more": True, "next_cursor": MARK}),
    "end": example("Nothing new", {"data": [], "has_more": False, "next_cursor": MARK}),
}

TO_CREATE: Final = {
    "example": example(
        "Activations and cancellations",
        {"url": URL, "types": list(ENDPOINT.types), "description": ENDPOINT.description},
    )
}
TO_CHANGE: Final = {
    "pause": example("Hold what is sent there", {"status": "paused"}),
    "move": example("Another address", {"url": URL + "/v2", "description": None}),
}
TO_ROTATE: Final = {
    "issue": example("Issue a new secret", {}),
    "switch": example("Let it take over now", {"switch": True}),
}
TO_REPLAY: Final = {
    "failed": example(
        "What failed since a time", {"since": rfc3339(AT - DAY), "statuses": ["failed"], "dry_run": True}
    ),
    "one": example("One delivery", {"delivery_id": str(ID)}),
}
