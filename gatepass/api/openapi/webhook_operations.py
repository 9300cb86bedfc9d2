"""Notes about the operations on webhook endpoints, deliveries, replays and the feed."""

from typing import Final

from gatepass.api.openapi import responses
from gatepass.api.openapi import webhook_examples as shown
from gatepass.api.openapi.notes import BAD_CURSOR, BAD_LIMIT, CURSOR, LIMIT, Notes, Success, body, path, query
from gatepass.api.responses import NotFound, RequestTooLarge
from gatepass.api.routes.webhook_replays import ReplayCountOut
from gatepass.api.schemas import Data
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.wire_constants import NEXT_SIGNATURE_HEADER, REPLAY_HEADER, SIGNATURE_HEADER
from gatepass.domain.keys import Scope
from gatepass.domain.webhooks import DeliveryNotFound, DeliveryStatus, MessageType, TooManyEndpoints, WebhookNotFound

WEBHOOK_ID: Final = path("id", "The endpoint's UUID.", str(shown.ID))
DELIVERY_ID: Final = path("delivery_id", "The delivery's UUID.", str(shown.ID))
STATUS: Final = query("status", "Only deliveries with this status.", {"type": "string", "enum": list(DeliveryStatus)})
TYPE: Final = query("type", "Only deliveries of this type.", {"type": "string", "enum": list(MessageType)})
AFTER: Final = query(
    "after", "Where to go on: `next_cursor` of the page before. Without it: the oldest kept.", {"type": "string"}
)

BAD_URL: Final = InvalidRequest("The URL must begin with https://.", param="url")
BAD_TYPES: Final = InvalidRequest("types: there is no type 'ticket.sold'.", param="types")
# An id with a slash in it is another path, which does not exist.
UNKNOWN: Final = (WebhookNotFound(), NotFound())
PAGED: Final = (BAD_LIMIT, BAD_CURSOR)

# By the name of the route's function.
NOTES: Final[dict[str, Notes]] = {
    "create_webhook": Notes(
        id="create_webhook",
        summary="Create a webhook",
        description=(
            "A new endpoint, in the mode of the key: a live key's is sent what happens, a sandbox key's what sandbox "
            "scans do. An organization has at most 16. The `secret` that signs its messages is in this answer, and in "
            "no other."
        ),
        scope=Scope.ADMIN,
        success="The endpoint is made.",
        shown=shown.NEW_WEBHOOK,
        refusals=(BAD_URL, BAD_TYPES, RequestTooLarge(), TooManyEndpoints()),
        body=body("WebhookRequest", shown.TO_CREATE),
    ),
    "list_webhooks": Notes(
        id="list_webhooks",
        summary="List webhooks",
        description="The endpoints of the key's organization and mode, in the order in which they were made.",
        scope=Scope.WEBHOOKS_READ,
        success="A page of endpoints.",
        shown=shown.WEBHOOKS,
        refusals=PAGED,
        parameters=(LIMIT, CURSOR),
        headers=(responses.LINK,),
    ),
    "webhook": Notes(
        id="retrieve_webhook",
        summary="Retrieve a webhook",
        description="One endpoint of the key's organization and mode.",
        scope=Scope.WEBHOOKS_READ,
        success="The endpoint.",
        shown=shown.WEBHOOK,
        refusals=UNKNOWN,
        parameters=(WEBHOOK_ID,),
    ),
    "change_webhook": Notes(
        id="update_webhook",
        summary="Update a webhook",
        description=(
            "Change an endpoint, pause it or let it go on. While it is paused nothing is lost: what is due is held, "
            "and goes out at a bounded rate when it is active again."
        ),
        scope=Scope.ADMIN,
        success="The endpoint as it is now.",
        shown=shown.WEBHOOK,
        refusals=(BAD_URL, BAD_TYPES, *UNKNOWN, RequestTooLarge()),
        parameters=(WEBHOOK_ID,),
        body=body("WebhookChangeRequest", shown.TO_CHANGE),
    ),
    "delete_webhook": Notes(
        id="delete_webhook",
        summary="Delete a webhook",
        description="Delete an endpoint with its secret. What was still to be sent there is dropped.",
        scope=Scope.ADMIN,
        success="The endpoint is gone.",
        shown={},
        refusals=UNKNOWN,
        parameters=(WEBHOOK_ID,),
    ),
    "ping_webhook": Notes(
        id="test_webhook",
        summary="Test a webhook",
        description=(
            "Send a `webhook.ping` to this endpoint, at once, whatever it has subscribed to. Retrieve the delivery to "
            "see what came of it."
        ),
        scope=Scope.ADMIN,
        success="The ping is on its way.",
        shown=shown.PINGED,
        refusals=(*UNKNOWN, NotAllowedFromHere("The endpoint is paused. Resume it first.")),
        parameters=(WEBHOOK_ID,),
    ),
    "rotate_secret": Notes(
        id="rotate_webhook_secret",
        summary="Rotate a webhook's secret",
        description=(
            "Replace a secret without losing a message, in two steps.\n\n"
            "1. Call without a body. The answer has a new secret, which from now on signs "
            f"`{NEXT_SIGNATURE_HEADER}`; the old one goes on signing `{SIGNATURE_HEADER}`. Teach your receiver to take "
            "either. Calling again replaces the new secret.\n"
            '2. Call with `{"switch": true}`, or wait for 24 hours: the two change places. 24 hours later the old one '
            "is gone. Until then a new rotation is refused with 409.\n\n"
            "`secret` is null in the answer to the second step. Switching twice changes nothing more."
        ),
        scope=Scope.ADMIN,
        success="The endpoint, with the new secret if one was issued.",
        shown=shown.ROTATED,
        refusals=(
            InvalidRequest("switch: Expected `bool`, got `str`.", param="switch"),
            *UNKNOWN,
            NotAllowedFromHere("There is no new secret to switch to. Issue one first."),
            RequestTooLarge(),
        ),
        parameters=(WEBHOOK_ID,),
        body=body("SecretRotationRequest", shown.TO_ROTATE, required=False),
    ),
    "list_deliveries": Notes(
        id="list_webhook_deliveries",
        summary="List deliveries",
        description=(
            "What an endpoint was sent or is still to be sent, newest first, for 90 days. With a filter a page may "
            "hold fewer than `limit`, even none, and not be the last one: go by `has_more`."
        ),
        scope=Scope.WEBHOOKS_READ,
        success="A page of deliveries.",
        shown=shown.DELIVERIES,
        refusals=(
            *PAGED,
            InvalidRequest("status is one of pending, delivered, held, failed.", param="status"),
            InvalidRequest(f"type is one of {', '.join(MessageType)}.", param="type"),
            *UNKNOWN,
        ),
        parameters=(WEBHOOK_ID, LIMIT, CURSOR, STATUS, TYPE),
        headers=(responses.LINK,),
    ),
    "delivery": Notes(
        id="retrieve_webhook_delivery",
        summary="Retrieve a delivery",
        description="One delivery with every attempt and the very body that is sent.",
        scope=Scope.WEBHOOKS_READ,
        success="The delivery.",
        shown=shown.DELIVERY,
        refusals=(WebhookNotFound(), DeliveryNotFound(), NotFound()),
        parameters=(WEBHOOK_ID, DELIVERY_ID),
    ),
    "replay_webhook": Notes(
        id="replay_webhook",
        summary="Replay deliveries",
        description=(
            "Send again what an endpoint was sent before: what fits a filter, or one delivery. Messages keep their id "
            f"and their order, and carry `{REPLAY_HEADER}: 1`. They never delay what happens now. A replay goes on by "
            "itself; list the replays to see how far it is. Without a body: the last 24 hours.\n\n"
            "With `dry_run` nothing is sent, and the answer is 200 with how many there are. A replay may span at most "
            "1,000,000 deliveries, and four may run at an endpoint at a time."
        ),
        scope=Scope.ADMIN,
        success="The replay has begun.",
        shown=shown.REPLAYED,
        refusals=(
            InvalidRequest("Messages are kept for 30 days; since is before that.", param="since"),
            InvalidRequest("until is in the future.", param="until"),
            BAD_TYPES,
            InvalidRequest("Send either delivery_id or a filter.", param="delivery_id"),
            WebhookNotFound(),
            DeliveryNotFound(),
            NotFound(),
            NotAllowedFromHere("4 replays of this endpoint are running. Wait for one to end."),
            RequestTooLarge(),
        ),
        parameters=(WEBHOOK_ID,),
        body=body("ReplayRequest", shown.TO_REPLAY, required=False),
        also=(Success(200, "With `dry_run`: how many there are.", Data[ReplayCountOut], shown.COUNTED),),
    ),
    "list_replays": Notes(
        id="list_webhook_replays",
        summary="List replays",
        description="The replays of an endpoint, newest first, with how far they are.",
        scope=Scope.WEBHOOKS_READ,
        success="A page of replays.",
        shown=shown.REPLAYS,
        refusals=(*PAGED, *UNKNOWN),
        parameters=(WEBHOOK_ID, LIMIT, CURSOR),
        headers=(responses.LINK,),
    ),
    "list_messages": Notes(
        id="list_webhook_events",
        summary="List messages",
        description=(
            "The feed: every message of the key's organization and mode, oldest first, for whoever would rather ask "
            "than be told, or wants to be sure that nothing was missed. Pass `next_cursor` as `after` to go on: "
            "nothing that comes later is ever put before it. Messages are kept for 30 days.\n\n"
            "Live messages are written down from the first call on, and for 30 days after the last, even if no "
            "endpoint asks for them; `scan.denied` only if one does."
        ),
        scope=Scope.WEBHOOKS_READ,
        success="A page of messages.",
        shown=shown.MESSAGES,
        refusals=(BAD_LIMIT, InvalidRequest("after is not one that this list gave out.", param="after")),
        parameters=(AFTER, LIMIT),
    ),
}
