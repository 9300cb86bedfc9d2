"""The fields of messages: for each a schema and an example."""

from typing import Any, Final

from gatepass.base.clock import rfc3339
from gatepass.base.wire_constants import CARD_PREFIX
from gatepass.domain import sandbox
from gatepass.domain.cards import CardStatus, format_number
from gatepass.domain.cards.messages import CardChange
from gatepass.domain.events import CatalogueEntry, EventCodes, EventStatus, OfflineAdmission
from gatepass.domain.events.messages import described
from gatepass.domain.idempotency import IdempotencyKeyReused
from gatepass.domain.incidents import IncidentKind
from gatepass.domain.tickets.activation import REFUSALS
from gatepass.domain.webhooks.message import PREFIX

Json = dict[str, Any]

ID: Final[Json] = {"type": "string", "format": "uuid"}
TIME: Final[Json] = {"type": "string", "format": "date-time", "description": "RFC 3339, in UTC."}
MAYBE_TIME: Final[Json] = {**TIME, "type": ["string", "null"]}
TEXT: Final[Json] = {"type": "string"}
MAYBE_TEXT: Final[Json] = {"type": ["string", "null"]}
SCANNED_AT: Final[Json] = {
    **MAYBE_TIME,
    "description": "When the gate scanned, if it said so: one that was offline sends its scans later.",
}
EXTERNAL_ID: Final[Json] = {**MAYBE_TEXT, "description": "Its id in another system."}
CARD_STATUS: Final[Json] = {"type": "string", "enum": list(CardStatus)}

CARD_NUMBER: Final = format_number(CARD_PREFIX, 12345678901)
AT: Final = rfc3339(sandbox.CATALOGUE_ENTRY.event.starts_at)
AN_ID: Final = "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e10"
MESSAGE_ID: Final = PREFIX + AN_ID.replace("-", "")
EVENT: Final = (ID, str(sandbox.EVENT_ID))
CARD: Final = (TEXT, CARD_NUMBER)
TICKET: Final = (ID, str(sandbox.CARDS["TEST_VALID"].ticket_id))
CARD_ID: Final = (ID, str(sandbox.CARD_IDS["TEST_VALID"]))
NEW_CARD_ID: Final = str(sandbox.CARD_IDS["TEST_VIP"])
NEW_CARD_NUMBER: Final = format_number(CARD_PREFIX, 12345678902)
GATE: Final = (MAYBE_TEXT, "North 2")
SCANNER: Final = (MAYBE_TEXT, "handheld-17")

CATEGORY: Final[dict[str, Json]] = {
    "id": ID,
    "name": TEXT,
    "tier": TEXT,
    "price": {"type": "number", "description": "In major units of the currency."},
    "currency": {"type": "string", "description": "ISO 4217."},
    "quantity_total": {"type": "integer"},
    "valid_from": {**MAYBE_TIME, "description": "From when its tickets open the gate."},
    "valid_until": {**MAYBE_TIME, "description": "Until when its tickets open the gate."},
    "gates": {
        "type": ["array", "null"],
        "items": TEXT,
        "description": "The gates that its tickets open; null: all of them.",
    },
}
EVENT_FIELDS: Final[dict[str, Json]] = {
    "event_id": ID,
    "status": {"type": "string", "enum": list(EventStatus)},
    "title": TEXT,
    "description": MAYBE_TEXT,
    "venue": MAYBE_TEXT,
    "city": MAYBE_TEXT,
    "country": {**MAYBE_TEXT, "description": "ISO 3166-1 alpha-2."},
    "time_zone": TEXT,
    "starts_at": TIME,
    "ends_at": TIME,
    "codes": {"type": "string", "enum": list(EventCodes)},
    "doors_open_at": {**MAYBE_TIME, "description": "Null: the doors opened on publishing."},
    "offline": {"type": "string", "enum": list(OfflineAdmission)},
    "ticket_categories": {
        "type": "array",
        "items": {"type": "object", "required": list(CATEGORY), "properties": CATEGORY},
    },
    "updated_at": TIME,
}
SOLD: Final = sandbox.CATALOGUE_ENTRY.categories[0]
# A price is written here: to compute it would load Babel into every process.
CATEGORY_EXAMPLE: Final = [
    str(SOLD.id), SOLD.name, SOLD.tier, 25.5, SOLD.currency, SOLD.quantity_total, None, None, ["North 1", "North 2"],
]  # fmt: skip
EXAMPLE: Final = {
    **described(CatalogueEntry(sandbox.CATALOGUE_ENTRY.event, [])),
    "ticket_categories": [dict(zip(CATEGORY, CATEGORY_EXAMPLE, strict=True))],
}
DESCRIBED: Final = {name: (schema, EXAMPLE[name]) for name, schema in EVENT_FIELDS.items()}

CHANGED: Final = ({"type": "array", "items": {"type": "string", "enum": list(CardChange)}}, [CardChange.HOLDER])

# The first is the verdict of a device without a network, which no scan is answered with.
DENIALS: Final = ["refused_by_device", *(code for code in REFUSALS if code != IdempotencyKeyReused.code)]

MAYBE_ID: Final[Json] = {**ID, "type": ["string", "null"]}
FIRST: Final[dict[str, tuple[Json, Any]]] = {
    "gate": GATE,
    "device_id": (MAYBE_ID, AN_ID),
    "scanner_id": SCANNER,
    "occurred_at": (MAYBE_TIME, AT),
    "received_at": (TIME, AT),
}
INCIDENT: Final[dict[str, tuple[Json, Any]]] = {
    "id": (ID, AN_ID),
    "event_id": EVENT,
    "kind": ({"type": "string", "enum": list(IncidentKind)}, IncidentKind.DUPLICATE),
    "ticket_id": (MAYBE_ID, TICKET[1]),
    "card_number": (MAYBE_TEXT, CARD_NUMBER),
    "gate": (MAYBE_TEXT, "South 1"),
    "device_id": ({**MAYBE_ID, "description": "null if a person let somebody in."}, NEW_CARD_ID),
    "occurred_at": ({**MAYBE_TIME, "description": "When it happened, by the clock of the device."}, AT),
    "corrected_at": ({**MAYBE_TIME, "description": "The same by our clock, as far as we know. Rules count at it."}, AT),
    "received_at": ({**TIME, "description": "When we heard of it."}, AT),
    "first": (
        {
            "type": ["object", "null"],
            "description": "Of a duplicate: the admission that came to us before.",
            "required": list(FIRST),
            "properties": {name: schema for name, (schema, _) in FIRST.items()},
        },
        {name: value for name, (_, value) in FIRST.items()},
    ),
    "reason": ({**MAYBE_TEXT, "description": "What a person gave as reason, or why a device was not relied on."}, None),
    "closed_at": (MAYBE_TIME, None),
    "closed_by": (MAYBE_TEXT, None),
    "note": (MAYBE_TEXT, None),
}
