"""The schemas, made from the response models and the request structs, under public names."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gatepass.api.openapi.gate.device_schemas import DEVICE_NAMES, DEVICE_REQUESTS
from gatepass.api.openapi.gate.names import GATE_NAMES
from gatepass.api.openapi.text import WORDS
from gatepass.api.routes.card_schemas import (
    CardChange,
    HolderChange,
    HolderIn,
    LinkRequest,
    NewCardIn,
    ReasonIn,
    TokenRequest,
    TokensRequest,
)
from gatepass.api.routes.event_changes import EventCancellation, EventChange, NewEvent
from gatepass.api.routes.gate.scan_batch import BatchIn, EntryIn
from gatepass.api.routes.scans import ScanIn
from gatepass.api.routes.ticket_categories import CategoryChange, NewCategory
from gatepass.api.routes.ticket_schemas import NewTicketIn, NewTicketsIn, TransferIn
from gatepass.api.routes.webhook_replays import ReplayRequest
from gatepass.api.routes.webhook_schemas import NewWebhook, SecretRotation, WebhookChange
from gatepass.domain.webhooks import SUBSCRIBABLE, MessageType

Json = dict[str, Any]

REF: Final = "#/components/schemas/"

# The public name of each model. A missing one stops the build, so that no Page_EventOut_ is published.
NAMES: Final = {
    "Page_EventOut_": "EventList",
    "Data_EventOut_": "EventResponse",
    "EventOut": "Event",
    "EventCodes": "EventCodes",
    "EventStatus": "EventStatus",
    "OfflineAdmission": "OfflineAdmission",
    "TicketCategoryOut": "TicketCategory",
    "Data_TicketCategoryOut_": "TicketCategoryResponse",
    "VerificationOut": "CardVerification",
    "CardStatus": "CardStatus",
    "VerificationReason": "VerificationReason",
    "PublicKeysOut": "PublicKeySet",
    "PublicKeyOut": "PublicKey",
    "Page_CardOut_": "CardList",
    "Data_CardOut_": "CardResponse",
    "CardOut": "Card",
    "HolderOut": "Holder",
    "Data_TokenOut_": "CardTokenResponse",
    "TokenOut": "CardToken",
    "Data_LinkOut_": "CardLinkResponse",
    "LinkOut": "CardLink",
    "TokenResultsOut": "CardTokenResults",
    "TokenResultOut": "CardTokenResult",
    "Page_TicketOut_": "TicketList",
    "Data_TicketOut_": "TicketResponse",
    "TicketOut": "Ticket",
    "TicketState": "TicketState",
    "TicketResultsOut": "TicketResults",
    "TicketResultOut": "TicketResult",
    "Data_ScanOut_": "ScanResponse",
    "ScanOut": "ScanResult",
    "Page_RecordedScanOut_": "ScanList",
    "RecordedScanOut": "RecordedScan",
    **GATE_NAMES,
    "Page_WebhookOut_": "WebhookList",
    "Data_WebhookOut_": "WebhookResponse",
    "WebhookOut": "Webhook",
    "Mode": "Mode",
    "EndpointStatus": "WebhookStatus",
    "PausedReason": "PausedReason",
    "MessageType": "MessageType",
    "RotationOut": "SecretRotationState",
    "Data_NewWebhookOut_": "NewWebhookResponse",
    "NewWebhookOut": "NewWebhook",
    "Data_RotatedWebhookOut_": "RotatedWebhookResponse",
    "RotatedWebhookOut": "RotatedWebhook",
    "Page_DeliveryOut_": "DeliveryList",
    "Data_DeliveryOut_": "DeliveryResponse",
    "DeliveryOut": "Delivery",
    "DeliveryStatus": "DeliveryStatus",
    "Data_DeliveryDetailOut_": "DeliveryDetailResponse",
    "DeliveryDetailOut": "DeliveryDetail",
    "AttemptOut": "DeliveryAttempt",
    "Page_ReplayOut_": "ReplayList",
    "Data_ReplayOut_": "ReplayResponse",
    "ReplayOut": "Replay",
    "ReplayStatus": "ReplayStatus",
    "Data_ReplayCountOut_": "ReplayCountResponse",
    "ReplayCountOut": "ReplayCount",
    **DEVICE_NAMES,
    "FeedOut": "MessageList",
    "MessageOut": "Message",
}

# The result of an item has `data` or a refusal, so that neither is always there.
REQUIRED: Final = {"CardTokenResult": ["status"], "TicketResult": ["status"]}

# The request structs by their public names.
REQUESTS: Final[dict[str, type[msgspec.Struct]]] = {
    "EventRequest": NewEvent,
    "EventChangeRequest": EventChange,
    "EventCancellationRequest": EventCancellation,
    "TicketCategoryRequest": NewCategory,
    "TicketCategoryChangeRequest": CategoryChange,
    "CardRequest": NewCardIn,
    "CardChangeRequest": CardChange,
    "ReasonRequest": ReasonIn,
    "CardTokenRequest": TokenRequest,
    "CardTokensRequest": TokensRequest,
    "CardLinkRequest": LinkRequest,
    "TicketRequest": NewTicketIn,
    "TicketBatchRequest": NewTicketsIn,
    "TransferRequest": TransferIn,
    "HolderRequest": HolderIn,
    "HolderChangeRequest": HolderChange,
    "ScanRequest": ScanIn,
    "ScanBatchRequest": BatchIn,
    "JournalEntryRequest": EntryIn,
    "WebhookRequest": NewWebhook,
    "WebhookChangeRequest": WebhookChange,
    "SecretRotationRequest": SecretRotation,
    "ReplayRequest": ReplayRequest,
    **DEVICE_REQUESTS,
}

# Structs inside of request structs, by the names of their classes.
PARTS: Final = {struct.__name__: name for name, struct in REQUESTS.items()}

# Formats that the types of a struct cannot express.
FORMATS: Final[dict[str, Json]] = {
    "event_id": {"format": "uuid"},
    "category_id": {"format": "uuid"},
    "card_id": {"format": "uuid"},
    "expires_at": {"format": "date-time"},
    "delivery_id": {"format": "uuid"},
    "at": {"format": "date-time"},
    "occurred_at": {"format": "date-time"},
    "doors_open_at": {"format": "date-time"},
    "valid_from": {"format": "date-time"},
    "valid_until": {"format": "date-time"},
    "gates": {"uniqueItems": True},
    "starts_at": {"format": "date-time"},
    "ends_at": {"format": "date-time"},
    "since": {"format": "date-time"},
    "until": {"format": "date-time"},
    "quantity_total": {"type": "integer"},
    "url": {"format": "uri", "pattern": "^https://"},
    "types": {"items": {"type": "string", "enum": [type for type in MessageType if type in SUBSCRIBABLE]}},
}


def ref(name: str) -> Json:
    return {"$ref": REF + name}


def name_of(model: type[BaseModel]) -> str:
    refs, _ = models_json_schema([(model, "serialization")], ref_template="{model}")
    return NAMES[refs[model, "serialization"]["$ref"]]


def of_models(models: Iterable[type[BaseModel]]) -> dict[str, Json]:
    """The schemas of these models and of the models in them. A response always has all of its fields."""
    _, schema = models_json_schema([(model, "serialization") for model in models], ref_template=REF + "{model}")
    found = {NAMES[name]: _plain(definition) for name, definition in schema["$defs"].items()}
    for name, definition in found.items():
        if "properties" in definition:
            definition["required"] = REQUIRED.get(name) or list(definition["properties"])
    return {name: _described(name, found[name]) for name in NAMES.values()}


def of_requests() -> dict[str, Json]:
    """The schemas of request bodies: the fields and lengths of each struct, and rules that a struct cannot express."""
    described = {name: _of_request(name, struct) for name, struct in REQUESTS.items()}
    scan = described["ScanRequest"]
    scan["oneOf"] = [_only(scan, "By card number", "card_number"), _only(scan, "By token", "token")]
    entry = described["JournalEntryRequest"]
    entry["oneOf"] = [_only(entry, "By card number", "card_number"), _only(entry, "By token", "token")]
    described["ScanBatchRequest"]["properties"]["entries"]["items"] = ref("JournalEntryRequest")
    ticket, transfer = described["TicketRequest"], described["TransferRequest"]
    ticket["oneOf"] = [
        _only(ticket, "By card id", "card_id"),
        _only(ticket, "By card number", "card_number"),
        _only(ticket, "By person", "holder"),
    ]
    transfer["oneOf"] = [_only(transfer, "To a card", "card_id"), _only(transfer, "To a person", "holder")]
    holder = described["HolderRequest"]
    holder["anyOf"] = [_only(holder, "With a name", "name"), _only(holder, "With an address", "email")]
    described["TicketBatchRequest"]["properties"]["tickets"]["items"] = ref("TicketRequest")
    return described


def _of_request(name: str, struct: type[msgspec.Struct]) -> Json:
    _, found = msgspec.json.schema_components([struct], ref_template=REF + "{name}")
    schema = _described(name, _plain(found[struct.__name__]))
    for field in schema["properties"].keys() & FORMATS.keys():
        schema["properties"][field].update(FORMATS[field])
    if not schema["required"]:
        del schema["required"]
    return schema


def _only(schema: Json, title: str, name: str) -> Json:
    """One of the ways to name the card. Null counts as absent, so a type is required too."""
    field = schema["properties"][name]
    kind = next((choice for choice in field["anyOf"] if "$ref" in choice), {}) if "anyOf" in field else None
    named = {**field, "type": "string"} if kind is None else kind
    return {"title": title, "required": [name], "properties": {name: named}}


def error() -> Json:
    return {
        "type": "object",
        "description": "Every refusal and every fault has this body.",
        "required": ["error", "code"],
        "properties": {
            "error": {"type": "string", "description": "A sentence for people. It may change; do not match on it."},
            "code": {"type": "string", "description": "The code for programs. It never changes its meaning."},
            "param": {"type": "string", "description": "The field, parameter or header that is wrong."},
            "details": ref("ErrorDetails"),
        },
    }


def error_details() -> Json:
    return {
        "type": "object",
        "description": (
            "More about the refusal. With `already_activated`: the first activation. With `doors_closed`, "
            "`outside_window` and `wrong_gate`: the rule that refused."
        ),
        "properties": {
            "activated_at": {"type": "string", "format": "date-time"},
            "gate": {"type": ["string", "null"]},
            "scanner_id": {"type": ["string", "null"]},
            "doors_open_at": {"type": "string", "format": "date-time"},
            "valid_from": {"type": ["string", "null"], "format": "date-time"},
            "valid_until": {"type": ["string", "null"], "format": "date-time"},
            "gates": {"type": "array", "items": {"type": "string"}},
        },
    }


def _plain(schema: Any) -> Any:
    """The schema without generated titles and null defaults, and with `null` in `type` instead of an anyOf."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REF)
        return ref(NAMES.get(name) or PARTS[name])
    generated = {name for name in ("title", "default") if not isinstance(schema.get(name), dict)}
    plain: Json = {name: _plain(part) for name, part in schema.items() if name not in generated}
    return _type_first(_merged(plain) if "anyOf" in plain else plain)


def _merged(schema: Json) -> Json:
    choices = schema["anyOf"]
    kinds = [choice.get("type") for choice in choices]
    if kinds == ["integer", "number"]:
        return {**choices[1], **_without_choices(schema)}
    if len(kinds) == 2 and kinds[1] == "null" and isinstance(kinds[0], str):
        return {**choices[0], "type": [kinds[0], "null"], **_without_choices(schema)}
    return schema


def _type_first(schema: Json) -> Json:
    return {"type": schema["type"], **schema} if isinstance(schema.get("type"), str | list) else schema


def _without_choices(schema: Json) -> Json:
    return {name: part for name, part in schema.items() if name != "anyOf"}


def _described(name: str, schema: Json) -> Json:
    """The schema with its descriptions."""
    words = WORDS.get(name, {})
    if "" in words:
        schema = {"type": schema["type"], "description": words[""], **schema}
    for field, sentence in words.items():
        if field:
            schema["properties"][field].setdefault("description", sentence)
    return schema
