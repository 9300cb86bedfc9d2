"""The schemas: from the models that answer and the struct that is parsed, under names that read well."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gatepass.api.scan import ScanIn

Json = dict[str, Any]

REF: Final = "#/components/schemas/"

# Every model has its name here; one that is missing stops the build, so that no Page_EventOut_ slips out.
NAMES: Final = {
    "Page_EventOut_": "EventList",
    "Data_EventOut_": "EventResponse",
    "EventOut": "Event",
    "EventStatus": "EventStatus",
    "TicketCategoryOut": "TicketCategory",
    "VerificationOut": "CardVerification",
    "CardStatus": "CardStatus",
    "Reason": "VerificationReason",
    "PublicKeysOut": "PublicKeySet",
    "PublicKeyOut": "PublicKey",
    "Data_ScanOut_": "ScanResponse",
    "ScanOut": "ScanResult",
}


def ref(name: str) -> Json:
    return {"$ref": REF + name}


def name_of(model: type[BaseModel]) -> str:
    refs, _ = models_json_schema([(model, "serialization")], ref_template="{model}")
    return NAMES[refs[model, "serialization"]["$ref"]]


def of_models(models: Iterable[type[BaseModel]]) -> dict[str, Json]:
    """The schemas of these models and of all that they hold. What we answer always has all of its fields."""
    _, schema = models_json_schema([(model, "serialization") for model in models], ref_template=REF + "{model}")
    found = {NAMES[name]: _plain(definition) for name, definition in schema["$defs"].items()}
    for definition in found.values():
        if "properties" in definition:
            definition["required"] = list(definition["properties"])
    return {name: _told(name, found[name]) for name in NAMES.values()}


def of_scan_request() -> Json:
    """What POST /scan takes: the struct's own fields and lengths, and what the struct cannot say."""
    _, found = msgspec.json.schema_components([ScanIn])
    schema = _told("ScanRequest", _plain(found["ScanIn"]))
    schema["properties"]["event_id"]["format"] = "uuid"
    schema["properties"]["occurred_at"]["format"] = "date-time"
    schema["oneOf"] = [_only(schema, "By card number", "card_number"), _only(schema, "By token", "token")]
    return schema


def _only(schema: Json, title: str, name: str) -> Json:
    """One of the two ways to name the card. A null is as good as an absent field, so a type is asked for too."""
    return {"title": title, "required": [name], "properties": {name: {**schema["properties"][name], "type": "string"}}}


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
        "description": "More about the refusal. With `already_activated`: the first activation.",
        "properties": {
            "activated_at": {"type": "string", "format": "date-time"},
            "gate": {"type": ["string", "null"]},
            "scanner_id": {"type": ["string", "null"]},
        },
    }


def _plain(schema: Any) -> Any:
    """Without made-up titles and defaults of null, and `null` beside the type instead of in an anyOf."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return ref(NAMES[schema["$ref"].removeprefix(REF)])
    made_up = {name for name in ("title", "default") if not isinstance(schema.get(name), dict)}
    plain: Json = {name: _plain(part) for name, part in schema.items() if name not in made_up}
    return _type_first(_merged(plain) if "anyOf" in plain else plain)


def _merged(schema: Json) -> Json:
    choices = schema["anyOf"]
    kinds = [choice.get("type") for choice in choices]
    if kinds == ["integer", "number"]:
        return {"type": "number", **_without_choices(schema)}
    if len(kinds) == 2 and kinds[1] == "null" and isinstance(kinds[0], str):
        return {**choices[0], "type": [kinds[0], "null"], **_without_choices(schema)}
    return schema


def _type_first(schema: Json) -> Json:
    return {"type": schema["type"], **schema} if isinstance(schema.get("type"), str | list) else schema


def _without_choices(schema: Json) -> Json:
    return {name: part for name, part in schema.items() if name != "anyOf"}


def _told(name: str, schema: Json) -> Json:
    """The schema with what people want to know about it."""
    words = WORDS.get(name, {})
    if "" in words:
        schema = {"type": schema["type"], "description": words[""], **schema}
    for field, sentence in words.items():
        if field:
            schema["properties"][field].setdefault("description", sentence)
    return schema


# The name of the schema, then of its fields; the empty field is the schema itself.
WORDS: Final[dict[str, dict[str, str]]] = {
    "EventList": {"": "A page of events."},
    "EventResponse": {"": "One event."},
    "Event": {
        "": "An event of the organization.",
        "starts_at": "RFC 3339, in UTC.",
        "ends_at": "RFC 3339, in UTC.",
        "cover_url": "Where its picture is.",
    },
    "EventStatus": {"": "Only a published event takes scans. `cancelled` and `ended` are final."},
    "TicketCategory": {
        "": "A kind of ticket for an event.",
        "quantity_total": "How many there are.",
        "quantity_sold": "How many are taken; never more than there are.",
    },
    "CardVerification": {
        "": "What a card token is worth. Of a token that the organization did not sign, nothing is said but that.",
        "valid": "Whether the card may be used now.",
        "expired": "Whether the token has expired.",
        "card_number": "The number on the card.",
        "issued_at": "When the card was issued.",
        "card_id": "The card's UUID.",
    },
    "CardStatus": {"": "`revoked` is final; a suspended card can become active again."},
    "VerificationReason": {"": "Why a token is not valid. The card's status outranks the token's expiry."},
    "PublicKeySet": {"": "A JWK set, as in RFC 7517 and RFC 8037.", "keys": "Newest first."},
    "PublicKey": {
        "": "An Ed25519 public key. Tokens carry no key id: try each key.",
        "kid": "The key's UUID.",
    },
    "ScanResponse": {"": "The activated ticket."},
    "ScanResult": {
        "": "What was activated.",
        "ticket_id": "The ticket's UUID.",
        "tier": "A short lower-case word for what the ticket allows, such as `standard` or `vip`.",
        "category_name": "The category's name, to show at the gate.",
    },
    "ScanRequest": {
        "": "A card shown at a gate, by exactly one of `card_number` and `token`. Unknown fields are ignored.",
        "event_id": "The event that the gate belongs to.",
        "card_number": "A card number typed in by hand. Case, spaces and dashes are forgiven.",
        "token": "A card token, as scanned.",
        "scanner_id": "The device, for the organizer's eyes.",
        "gate": "The gate, for the organizer's eyes.",
        "occurred_at": (
            "When the card was shown, if that was before this call: RFC 3339 with an offset, "
            "at most 72 hours back and 2 minutes ahead. A token counts as expired if it was expired then."
        ),
    },
}
