"""The kinds of webhook messages, in the order in which they are shown."""

from dataclasses import dataclass
from typing import Any, Final

from gatepass.domain.message_catalogue.fields import (
    AN_ID,
    AT,
    CARD,
    CARD_ID,
    CARD_STATUS,
    CHANGED,
    DENIALS,
    DESCRIBED,
    EVENT,
    EXTERNAL_ID,
    GATE,
    ID,
    INCIDENT,
    MAYBE_TEXT,
    MESSAGE_ID,
    NEW_CARD_ID,
    NEW_CARD_NUMBER,
    SCANNED_AT,
    SCANNER,
    SOLD,
    TEXT,
    TICKET,
    TIME,
    Json,
)
from gatepass.domain.webhooks import MessageType
from gatepass.domain.webhooks.message import PREFIX


@dataclass(frozen=True, slots=True)
class MessageKind:
    """One type of message. `fields` holds a schema and an example for each field of its data."""

    type: MessageType
    schema_name: str
    description: str
    fields: dict[str, tuple[Json, Any]]


MESSAGES: Final[tuple[MessageKind, ...]] = (
    MessageKind(
        MessageType.TICKET_ACTIVATED,
        "TicketActivated",
        "A scan activated a ticket.",
        {
            "ticket_id": TICKET,
            "event_id": EVENT,
            "card_number": CARD,
            "activated_at": (TIME, AT),
            "occurred_at": (SCANNED_AT, None),
            "gate": GATE,
            "scanner_id": SCANNER,
        },
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
        MessageType.TICKET_ISSUED,
        "TicketIssued",
        "A ticket was issued, by the API, in the studio or by an import.",
        {
            "ticket_id": TICKET,
            "event_id": EVENT,
            "category_id": (ID, str(SOLD.id)),
            "card_id": CARD_ID,
            "card_number": CARD,
            "external_id": (EXTERNAL_ID, "order-4711-1"),
            "issued_at": (TIME, AT),
        },
    ),
    MessageKind(
        MessageType.TICKET_TRANSFERRED,
        "TicketTransferred",
        "A ticket that was not used yet moved to another card: to another person, or because its card was replaced.",
        {
            "ticket_id": TICKET,
            "event_id": EVENT,
            "card_id": (ID, NEW_CARD_ID),
            "card_number": (TEXT, NEW_CARD_NUMBER),
            "previous_card_id": CARD_ID,
            "previous_card_number": CARD,
            "transferred_at": (TIME, AT),
        },
    ),
    MessageKind(
        MessageType.TICKET_ACTIVATION_UNDONE,
        "TicketActivationUndone",
        "Somebody undid an activation in the studio. The ticket can be used again.",
        {
            "ticket_id": TICKET,
            "event_id": EVENT,
            "card_number": CARD,
            "undone_at": (TIME, AT),
            "reason": (MAYBE_TEXT, "Scanned by mistake"),
        },
    ),
    MessageKind(
        MessageType.EVENT_CANCELLED,
        "EventCancelled",
        "An event was cancelled. A `ticket.cancelled` follows for each of its tickets.",
        {"event_id": EVENT, "cancelled_at": (TIME, AT), "reason": (MAYBE_TEXT, "Storm")},
    ),
    MessageKind(
        MessageType.EVENT_PUBLISHED,
        "EventPublished",
        "An event was published, and is open for scans. The message describes the whole event as it is now.",
        {**DESCRIBED, "published_at": (TIME, AT)},
    ),
    MessageKind(
        MessageType.EVENT_UPDATED,
        "EventUpdated",
        "An event was made or changed, or a category of it. The message describes the whole event as it is now.",
        DESCRIBED,
    ),
    MessageKind(
        MessageType.EVENT_ENDED,
        "EventEnded",
        "An event has ended: somebody said so, or its end was 6 hours ago.",
        {"event_id": EVENT, "ended_at": (TIME, AT)},
    ),
    MessageKind(
        MessageType.EVENT_DELETED, "EventDeleted", "A draft was deleted.", {"event_id": EVENT, "deleted_at": (TIME, AT)}
    ),
    MessageKind(
        MessageType.CARD_STATUS_CHANGED,
        "CardStatusChanged",
        "A card was suspended, resumed or revoked; `revoked` is final.",
        {
            "card_id": CARD_ID,
            "card_number": CARD,
            "previous_status": (CARD_STATUS, "active"),
            "status": (CARD_STATUS, "suspended"),
            "changed_at": (TIME, AT),
            "reason": (MAYBE_TEXT, "Reported lost"),
        },
    ),
    MessageKind(
        MessageType.CARD_ISSUED,
        "CardIssued",
        "A card was made. No message says who holds it.",
        {
            "card_id": CARD_ID,
            "card_number": CARD,
            "status": (CARD_STATUS, "active"),
            "external_id": (EXTERNAL_ID, "member-1207"),
            "issued_at": (TIME, AT),
        },
    ),
    MessageKind(
        MessageType.CARD_REPLACED,
        "CardReplaced",
        (
            "A new card took the place of a lost one, with its holder and external id. With it come a `card.issued` "
            "for the new card, a `card.status_changed` for the old one, and a `ticket.transferred` for each unused "
            "ticket."
        ),
        {
            "card_id": CARD_ID,
            "card_number": CARD,
            "new_card_id": (ID, NEW_CARD_ID),
            "new_card_number": (TEXT, NEW_CARD_NUMBER),
            "external_id": (EXTERNAL_ID, "member-1207"),
            "replaced_at": (TIME, AT),
            "reason": (MAYBE_TEXT, "Reported lost"),
        },
    ),
    MessageKind(
        MessageType.CARD_UPDATED,
        "CardUpdated",
        "A card got an external id, or its holder was corrected or erased. Ask `GET /cards/{id}` for the holder.",
        {
            "card_id": CARD_ID,
            "card_number": CARD,
            "external_id": (EXTERNAL_ID, "member-1207"),
            "changed": CHANGED,
            "updated_at": (TIME, AT),
        },
    ),
    MessageKind(
        MessageType.SCAN_CONFLICT,
        "ScanConflict",
        (
            "Somebody was let in against the record: a device without a network admitted them, or a person did. The "
            "data are the incident, as `GET /incidents/{id}` shows it."
        ),
        INCIDENT,
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
            "gate": GATE,
            "scanner_id": SCANNER,
            "occurred_at": (SCANNED_AT, None),
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
