"""The catalogue of webhook messages: for each type a sentence, a schema and an example.

OpenAPI and the studio both show it, so it belongs to the domain.
"""

from dataclasses import dataclass
from typing import Any, Final

from gatepass.base.clock import rfc3339
from gatepass.base.wire_constants import CARD_PREFIX
from gatepass.domain import sandbox
from gatepass.domain.cards import CardStatus, format_number
from gatepass.domain.idempotency import IdempotencyKeyReused
from gatepass.domain.tickets.activation import REFUSALS
from gatepass.domain.webhooks import MessageType
from gatepass.domain.webhooks.message import PREFIX

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MessageKind:
    """One type of message. `fields` holds a schema and an example for each field of its data."""

    type: MessageType
    schema_name: str
    description: str
    fields: dict[str, tuple[Json, Any]]


ID: Final[Json] = {"type": "string", "format": "uuid"}
TIME: Final[Json] = {"type": "string", "format": "date-time", "description": "RFC 3339, in UTC."}
TEXT: Final[Json] = {"type": "string"}
MAYBE_TEXT: Final[Json] = {"type": ["string", "null"]}
MAYBE_TIME: Final[Json] = {**TIME, "type": ["string", "null"]}
CARD_STATUS: Final[Json] = {"type": "string", "enum": list(CardStatus)}

CARD_NUMBER: Final = format_number(CARD_PREFIX, 12345678901)
AT: Final = rfc3339(sandbox.CATALOGUE_ENTRY.event.starts_at)
AN_ID: Final = "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e10"
MESSAGE_ID: Final = PREFIX + AN_ID.replace("-", "")
EVENT: Final = (ID, str(sandbox.EVENT_ID))
CARD: Final = (TEXT, CARD_NUMBER)
TICKET: Final = (ID, str(sandbox.CARDS["TEST_VALID"].ticket_id))

DENIALS: Final = [code for code in REFUSALS if code != IdempotencyKeyReused.code]

MESSAGES: Final[tuple[MessageKind, ...]] = (
    MessageKind(
        MessageType.TICKET_ACTIVATED,
        "TicketActivated",
        "A scan activated a ticket.",
        {"ticket_id": TICKET, "event_id": EVENT, "card_number": CARD, "activated_at": (TIME, AT)},
    ),
    MessageKind(
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
    MessageKind(
        MessageType.EVENT_CANCELLED,
        "EventCancelled",
        "An event was cancelled. A `ticket.cancelled` follows for each of its tickets.",
        {"event_id": EVENT, "cancelled_at": (TIME, AT), "reason": (MAYBE_TEXT, "Storm")},
    ),
    MessageKind(
        MessageType.CARD_STATUS_CHANGED,
        "CardStatusChanged",
        "A card was suspended, resumed or revoked; `revoked` is final.",
        {
            "card_id": (ID, str(sandbox.CARD_IDS["TEST_VALID"])),
            "card_number": CARD,
            "previous_status": (CARD_STATUS, "active"),
            "status": (CARD_STATUS, "suspended"),
            "changed_at": (TIME, AT),
            "reason": (MAYBE_TEXT, "Reported lost"),
        },
    ),
    MessageKind(
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
    MessageKind(
        MessageType.PING,
        "WebhookPing",
        "Somebody tests an endpoint. Nothing has happened.",
        {"webhook_id": (ID, AN_ID)},
    ),
)


def schema_of(message: MessageKind) -> Json:
    """JSON Schema of the whole body."""
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


def example_of(message: MessageKind) -> Json:
    return {
        "id": MESSAGE_ID,
        "type": message.type,
        "organization_id": AN_ID,
        "created_at": AT,
        "data": {name: value for name, (_, value) in message.fields.items()},
    }
