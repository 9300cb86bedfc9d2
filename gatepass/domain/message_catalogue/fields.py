"""The fields of messages: for each a schema and an example."""

from typing import Any, Final

from gatepass.base.clock import rfc3339
from gatepass.base.wire_constants import CARD_PREFIX
from gatepass.domain import sandbox
from gatepass.domain.cards import CardStatus, format_number
from gatepass.domain.cards.messages import CardChange
from gatepass.domain.events import CatalogueEntry, EventStatus
from gatepass.domain.events.messages import described
from gatepass.domain.idempotency import IdempotencyKeyReused
from gatepass.domain.tickets.activation import REFUSALS
from gatepass.domain.webhooks.message import PREFIX

Json = dict[str, Any]

ID: Final[Json] = {"type": "string", "format": "uuid"}
TIME: Final[Json] = {"type": "string", "format": "date-time", "description": "RFC 3339, in UTC."}
TEXT: Final[Json] = {"type": "string"}
MAYBE_TEXT: Final[Json] = {"type": ["string", "null"]}
SCANNED_AT: Final[Json] = {
    **TIME,
    "type": ["string", "null"],
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
    "ticket_categories": {
        "type": "array",
        "items": {"type": "object", "required": list(CATEGORY), "properties": CATEGORY},
    },
    "updated_at": TIME,
}
SOLD: Final = sandbox.CATALOGUE_ENTRY.categories[0]
# A price is written here: to compute it would load Babel into every process.
CATEGORY_EXAMPLE: Final = [str(SOLD.id), SOLD.name, SOLD.tier, 25.5, SOLD.currency, SOLD.quantity_total]
EXAMPLE: Final = {
    **described(CatalogueEntry(sandbox.CATALOGUE_ENTRY.event, [])),
    "ticket_categories": [dict(zip(CATEGORY, CATEGORY_EXAMPLE, strict=True))],
}
DESCRIBED: Final = {name: (schema, EXAMPLE[name]) for name, schema in EVENT_FIELDS.items()}

CHANGED: Final = ({"type": "array", "items": {"type": "string", "enum": list(CardChange)}}, [CardChange.HOLDER])

DENIALS: Final = [code for code in REFUSALS if code != IdempotencyKeyReused.code]
