"""The messages: what subscribers are sent, and how they know that it is from us."""

from dataclasses import dataclass
from typing import Any, Final

from gatepass.api.description.examples import CARD_NUMBER
from gatepass.api.description.schemas import ref
from gatepass.base.clock import rfc3339
from gatepass.base.wire_name import (
    ATTEMPT_HEADER,
    DELIVERY_HEADER,
    EVENT_HEADER,
    NEXT_SIGNATURE_HEADER,
    REPLAY_HEADER,
    SIGNATURE_HEADER,
)
from gatepass.domain import sandbox
from gatepass.domain.tickets import IdempotencyKeyReused
from gatepass.domain.tickets.activation import REFUSALS
from gatepass.domain.webhooks import MessageType
from gatepass.domain.webhooks.message import PREFIX

Json = dict[str, Any]

TAG: Final = "Messages"


@dataclass(frozen=True, slots=True)
class Message:
    """One type of message: `fields` is its data, a schema and an example for each."""

    type: MessageType
    schema_name: str
    description: str
    fields: dict[str, tuple[Json, Any]]


ID: Final[Json] = {"type": "string", "format": "uuid"}
TIME: Final[Json] = {"type": "string", "format": "date-time", "description": "RFC 3339, in UTC."}
TEXT: Final[Json] = {"type": "string"}
MAYBE_TEXT: Final[Json] = {"type": ["string", "null"]}
MAYBE_TIME: Final[Json] = {**TIME, "type": ["string", "null"]}

AT: Final = rfc3339(sandbox.LISTING.event.starts_at)
SECONDS: Final = int(sandbox.LISTING.event.starts_at.timestamp())
AN_ID: Final = "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e10"
MESSAGE_ID: Final = PREFIX + AN_ID.replace("-", "")
EVENT: Final = (ID, str(sandbox.EVENT_ID))
CARD: Final = (TEXT, CARD_NUMBER)
TICKET: Final = (ID, str(sandbox.CARDS["TEST_VALID"].ticket_id))

DENIALS: Final = [code for code in REFUSALS if code != IdempotencyKeyReused.code]

MESSAGES: Final = (
    Message(
        MessageType.TICKET_ACTIVATED,
        "TicketActivated",
        "A scan activated a ticket.",
        {"ticket_id": TICKET, "event_id": EVENT, "card_number": CARD, "activated_at": (TIME, AT)},
    ),
    Message(
        MessageType.TICKET_CANCELLED,
        "TicketCancelled",
        "A ticket was taken out of use, by itself or with its whole event.",
        {
            "ticket_id": TICKET,
            "event_id": EVENT,
            "card_number": CARD,
            "cancelled_at": (TIME, AT),
            "reason": (MAYBE_TEXT, "Refunded"),
            "was_activated": ({"type": "boolean", "description": "Whether it had been used."}, False),
        },
    ),
    Message(
        MessageType.EVENT_CANCELLED,
        "EventCancelled",
        "An event was cancelled. A `ticket.cancelled` follows for each of its tickets.",
        {"event_id": EVENT, "cancelled_at": (TIME, AT), "reason": (MAYBE_TEXT, "Storm")},
    ),
    Message(
        MessageType.CARD_STATUS_CHANGED,
        "CardStatusChanged",
        "A card was suspended, resumed or revoked; `revoked` is final.",
        {
            "card_id": (ID, str(sandbox.CARD_IDS["TEST_VALID"])),
            "card_number": CARD,
            "previous_status": (ref("CardStatus"), "active"),
            "status": (ref("CardStatus"), "suspended"),
            "changed_at": (TIME, AT),
            "reason": (MAYBE_TEXT, "Reported lost"),
        },
    ),
    Message(
        MessageType.SCAN_DENIED,
        "ScanDenied",
        "A scan was understood and refused. Sent only to endpoints that ask for this type by name.",
        {
            "event_id": EVENT,
            "card_number": CARD,
            "ticket_id": ({"type": ["string", "null"], "format": "uuid"}, TICKET[1]),
            "code": ({"type": "string", "enum": DENIALS, "description": "The `code` of the answer."}, DENIALS[-1]),
            "gate": (MAYBE_TEXT, "North 2"),
            "scanner_id": (MAYBE_TEXT, "handheld-17"),
            "occurred_at": (MAYBE_TIME, None),
            "denied_at": (TIME, AT),
        },
    ),
    Message(
        MessageType.PING,
        "WebhookPing",
        "Somebody tests an endpoint. Nothing has happened.",
        {"webhook_id": (ID, AN_ID)},
    ),
)


def webhooks() -> dict[str, Json]:
    return {message.type: {"post": _operation(message)} for message in MESSAGES}


def message_schemas() -> dict[str, Json]:
    return {message.schema_name: _schema(message) for message in MESSAGES}


def _operation(message: Message) -> Json:
    content = {"schema": ref(message.schema_name), "examples": {message.type: {"value": example_of(message)}}}
    return {
        "operationId": "on_" + message.type.replace(".", "_"),
        "summary": message.type,
        "description": message.description,
        "tags": [TAG],
        "security": [],
        "parameters": [_header(message, *header) for header in HEADERS],
        "requestBody": {"required": True, "content": {"application/json": content}},
        "responses": {
            "2XX": {"description": "Any 2xx within 15 seconds: received. Anything else is tried again, for 72 hours."},
            "410": {"description": "Gone: the endpoint is paused, and what is due is held."},
        },
    }


def _schema(message: Message) -> Json:
    return {
        "type": "object",
        "description": message.description,
        "required": ["id", "type", "organization_id", "created_at", "data"],
        "properties": {
            "id": {
                "type": "string",
                "pattern": f"^{PREFIX}",
                "description": "The same each time this message is sent: use it to drop duplicates.",
            },
            "type": {"type": "string", "const": message.type},
            "organization_id": ID,
            "created_at": TIME,
            "data": {
                "type": "object",
                "required": list(message.fields),
                "properties": {name: schema for name, (schema, _) in message.fields.items()},
            },
        },
    }


def example_of(message: Message) -> Json:
    return {
        "id": MESSAGE_ID,
        "type": message.type,
        "organization_id": AN_ID,
        "created_at": AT,
        "data": {name: value for name, (_, value) in message.fields.items()},
    }


HEX64: Final = "5f8d" * 16
SIGNATURE: Final[Json] = {"type": "string", "pattern": "^t=[0-9]+,v1=[0-9a-f]{64}$"}
SIGNED: Final = f"t={SECONDS}000,v1={HEX64}"

# Name, required, description, schema, example; an example of None stands for the type of the message.
HEADERS: Final[tuple[tuple[str, bool, str, Json, Any], ...]] = (
    (EVENT_HEADER, True, "The type of the message.", TEXT, None),
    (
        SIGNATURE_HEADER,
        True,
        (
            "`t`, the time of this attempt in milliseconds, and `v1`, HMAC-SHA256 in lower-case hex with the "
            "endpoint's whole secret over `<t>.<raw body>`. Refuse a mismatch, and a `t` over 5 minutes from now."
        ),
        SIGNATURE,
        SIGNED,
    ),
    (
        NEXT_SIGNATURE_HEADER,
        False,
        "While a secret is being rotated: the same, with the other secret.",
        SIGNATURE,
        SIGNED,
    ),
    (DELIVERY_HEADER, True, "The id of this delivery, the same for each attempt.", ID, AN_ID),
    (ATTEMPT_HEADER, True, "Which attempt this is.", {"type": "integer", "minimum": 1}, 1),
    (REPLAY_HEADER, False, "`1` if this was asked for by a replay.", {"type": "string", "const": "1"}, "1"),
    ("webhook-id", True, "Standard Webhooks: the id of the message.", TEXT, MESSAGE_ID),
    ("webhook-timestamp", True, "Standard Webhooks: Unix seconds.", {"type": "integer"}, SECONDS),
    (
        "webhook-signature",
        True,
        (
            "Standard Webhooks: `v1,` and HMAC-SHA256 in base64 over `<webhook-id>.<webhook-timestamp>.<raw body>`. "
            "Its key is what stands after `whsec_` in the secret, decoded. While a secret is being rotated there are "
            "two, with a space between them."
        ),
        TEXT,
        "v1,X42NX42NX42NX42NX42NX42NX42NX42NX42NX42NX40=",
    ),
)


def _header(message: Message, name: str, required: bool, description: str, schema: Json, example: Any) -> Json:  # noqa: FBT001
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string", "const": message.type} if example is None else schema,
        "example": message.type if example is None else example,
    }
