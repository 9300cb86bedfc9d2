"""Models agree with the OpenAPI description, and new fields in an answer never break an old client."""

import inspect
import json
import types
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from gatepass_sdk import Gatepass, HolderDetails, NewTicket, messages, models
from gatepass_sdk._decode import Model, Unreadable, Versioned, read
from gatepass_sdk.errors import APIStatusError
from gatepass_sdk.testing import FakeGatepass
from gatepass_sdk.testing._route_table import DEVICE, ROUTES
from gatepass_sdk.testing._router import BASE_PATH

DESCRIPTION: dict[str, Any] = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
SCHEMAS: dict[str, Any] = DESCRIPTION["components"]["schemas"]
DESCRIBED: dict[type[Model], str] = {
    models.TicketCategory: "TicketCategory",
    models.Event: "Event",
    models.Holder: "Holder",
    models.Card: "Card",
    models.CardLink: "CardLink",
    models.CardToken: "CardToken",
    models.CardTokenResult: "CardTokenResult",
    models.Ticket: "Ticket",
    models.TicketResult: "TicketResult",
    models.RecordedScan: "RecordedScan",
    models.CardVerification: "CardVerification",
    models.ScanResult: "ScanResult",
    models.SecretRotation: "SecretRotationState",
    models.WebhookEndpoint: "NewWebhook",
    models.Delivery: "Delivery",
    models.DeliveryAttempt: "DeliveryAttempt",
    models.DeliveryDetail: "DeliveryDetail",
    models.Replay: "Replay",
    models.ReplayCount: "ReplayCount",
    models.Device: "Device",
    models.DeviceEvent: "DeviceEvent",
    models.DeviceSettings: "DeviceSettings",
    models.Heartbeat: "Heartbeat",
    models.OpenedIncident: "OpenedIncident",
    models.JournalEntryResult: "JournalEntryResult",
    models.ScanBatch: "ScanBatch",
    models.FirstAdmission: "FirstAdmission",
    models.Incident: "Incident",
    messages.OtherEvent: "Message",
    **{kind: kind.__name__ for kind in messages.KINDS.values()},
}
# Fields that the SDK adds, from headers and from the call.
ADDED = {
    "ScanResult": {"replayed", "request_id", "idempotency_key"},
    **{name: {"etag"} for name in ("Event", "TicketCategory", "Card")},
}
# Schemas that are no models: wrappers, enums, requests, and messages whose data is passed on unread.
NOT_MODELS = {"PublicKeySet", "PublicKey", "Webhook", "RotatedWebhook", "Error", "ErrorDetails"} | {
    "WebhookPing",
    "CardTokenResults",
    "TicketResults",
}
JSON_TYPES: dict[Any, str] = {str: "string", int: "integer", bool: "boolean", datetime: "string", Mapping: "object"}


def resolved(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every schema that a value may have."""
    if "$ref" in schema:
        return resolved(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    found = [shape for part in schema.get("anyOf", []) for shape in resolved(part)]
    kinds = schema.get("type", [])
    return found + [{**schema, "type": kind} for kind in ([kinds] if isinstance(kinds, str) else kinds)]


def fits(hint: Any, schema: Mapping[str, Any]) -> bool:
    shapes = resolved(schema)
    origin = get_origin(hint)
    may_be_null = origin in (types.UnionType, Union)
    inner = next(one for one in get_args(hint) if one is not types.NoneType) if may_be_null else hint
    if not may_be_null and any(shape["type"] == "null" for shape in shapes):
        return False
    return all(_fits_shape(inner, shape) for shape in shapes if shape["type"] != "null")


def _fits_shape(hint: Any, shape: Mapping[str, Any]) -> bool:
    if get_origin(hint) is tuple:
        return shape["type"] == "array" and fits(get_args(hint)[0], shape["items"])
    if isinstance(hint, type) and issubclass(hint, Model):
        return shape["type"] == "object" and not differences(hint, shape)
    if hint in (Decimal, float):
        return shape["type"] in ("number", "integer")
    is_time = shape.get("format") == "date-time"
    return JSON_TYPES[get_origin(hint) or hint] == shape["type"] and (hint is datetime) == is_time


def differences(model: type[Model], schema: Mapping[str, Any]) -> list[str]:
    """Fields that one has and the other lacks, or has in another form."""
    hints = {name: hint for name, hint in get_type_hints(model).items() if name != "raw"}
    described = schema["properties"]
    own = set(hints) - ADDED.get(model.__name__, set())
    return [
        *(f"{model.__name__} lacks {name}" for name in described.keys() - own),
        *(f"{name} of {model.__name__} is not described" for name in own - described.keys()),
        *(
            f"{model.__name__}.{name} has another form"
            for name in own & described.keys()
            if not fits(hints[name], described[name])
        ),
    ]


@pytest.mark.parametrize("model", DESCRIBED, ids=lambda model: model.__name__)
def test_a_model_is_what_is_described(model: type[Model]) -> None:
    assert differences(model, SCHEMAS[DESCRIBED[model]]) == []


def test_every_schema_of_an_answer_has_its_model() -> None:
    wrappers = {name for name in SCHEMAS if name.endswith(("Response", "List", "Request"))}
    enums = {name for name, schema in SCHEMAS.items() if "properties" not in schema}
    assert set(SCHEMAS) - wrappers - enums == set(DESCRIBED.values()) | NOT_MODELS


def test_every_model_is_described() -> None:
    known = {one for one in vars(models).values() if isinstance(one, type) and issubclass(one, Model)}
    assert known - {Model, Versioned, models.ItemResult} <= set(DESCRIBED)


def test_every_type_of_message_has_its_class() -> None:
    assert [*messages.KINDS, "webhook.ping"] == list(DESCRIPTION["webhooks"])


def test_the_comparison_finds_what_is_missing() -> None:
    schema = json.loads(json.dumps(SCHEMAS["Event"]))
    schema["properties"]["doors_at"] = {"type": "string", "format": "date-time"}
    schema["properties"]["title"] = {"type": ["string", "null"]}
    del schema["properties"]["city"]
    assert differences(models.Event, schema) == [
        "Event lacks doors_at",
        "city of Event is not described",
        "Event.title has another form",
    ]


REQUESTS = {
    "ScanRequest": ("scans", "create", {"idempotency_key"}, set[str]()),
    "EventRequest": ("events", "create", {"idempotency_key"}, set[str]()),
    "EventChangeRequest": ("events", "update", {"event_id", "if_match"}, set[str]()),
    "EventCancellationRequest": ("events", "cancel", {"event_id", "idempotency_key"}, set[str]()),
    "TicketCategoryRequest": ("ticket_categories", "create", {"event_id", "idempotency_key"}, set[str]()),
    "TicketCategoryChangeRequest": ("ticket_categories", "update", {"category_id", "if_match"}, set[str]()),
    "CardRequest": ("cards", "create", {"idempotency_key"}, set[str]()),
    "CardChangeRequest": ("cards", "update", {"card_id", "if_match"}, set[str]()),
    "ReasonRequest": ("cards", "suspend", {"card_id", "idempotency_key"}, set[str]()),
    "CardTokenRequest": ("card_tokens", "create", {"card_id", "idempotency_key"}, set[str]()),
    "CardLinkRequest": ("cards", "link", {"card_id", "idempotency_key"}, set[str]()),
    "CardTokensRequest": ("card_tokens", "batch", {"idempotency_key"}, set[str]()),
    "TicketRequest": ("tickets", "create", {"idempotency_key"}, set[str]()),
    "TicketBatchRequest": ("tickets", "batch", {"idempotency_key"}, set[str]()),
    "TransferRequest": ("tickets", "transfer", {"ticket_id", "idempotency_key"}, set[str]()),
    "WebhookRequest": ("webhook_endpoints", "create", set[str](), set[str]()),
    "WebhookChangeRequest": ("webhook_endpoints", "update", {"endpoint_id"}, set[str]()),
    "SecretRotationRequest": ("webhook_endpoints", "rotate_secret", {"endpoint_id"}, set[str]()),
    "ReplayRequest": ("webhook_endpoints", "replay", {"endpoint_id"}, {"dry_run"}),
    "DeviceChangeRequest": ("devices", "update", {"device_id"}, set[str]()),
    "HeartbeatRequest": ("devices", "heartbeat", set[str](), set[str]()),
}


@pytest.mark.parametrize("schema", REQUESTS)
def test_every_field_of_a_request_can_be_given(schema: str) -> None:
    resource, name, added, implied = REQUESTS[schema]
    with FakeGatepass() as fake:
        parameters = set(inspect.signature(getattr(getattr(fake.client(), resource), name)).parameters)
    assert parameters - added == set(SCHEMAS[schema]["properties"]) - implied


@pytest.mark.parametrize(
    ("given", "schema"),
    [(HolderDetails, "HolderRequest"), (HolderDetails, "HolderChangeRequest"), (NewTicket, "TicketRequest")],
)
def test_every_field_of_an_object_can_be_given(given: type, schema: str) -> None:
    assert set(get_type_hints(given)) == set(SCHEMAS[schema]["properties"])
    assert getattr(given, "__required_keys__") == set(SCHEMAS[schema].get("required", []))  # noqa: B009


def test_every_request_is_one_of_these() -> None:
    assert {name for name in SCHEMAS if name.endswith("Request")} == REQUESTS.keys() | {
        "HolderRequest",
        "HolderChangeRequest",
        "ScanBatchRequest",
        "JournalEntryRequest",
    }


def test_details_of_a_refusal_are_given_as_they_come() -> None:
    assert set(SCHEMAS["Error"]["properties"]) - {"error"} <= set(inspect.signature(APIStatusError).parameters)


def test_the_fake_knows_every_path_that_is_described_and_its_scopes() -> None:
    """All but manifests and journals, which a fake does not have. What is only for devices names no scope."""
    described = {
        path.removeprefix(BASE_PATH): {
            method.upper(): operation["security"][0]["bearer"] for method, operation in methods.items()
        }
        for path, methods in DESCRIPTION["paths"].items()
        if path != BASE_PATH + "/openapi.json" and not path.endswith(("/manifest", "/manifest/stream", "/scans/batch"))
    }
    faked = {
        path: {method: [] if scope == DEVICE else [scope] for method, (scope, _) in methods.items()}
        for path, methods in ROUTES.items()
    }
    assert described == faked


EVENT: dict[str, Any] = {
    "id": "e",
    "title": "Night",
    "description": None,
    "venue": None,
    "city": None,
    "country": None,
    "starts_at": "2030-06-15T18:00:00Z",
    "ends_at": "2030-06-15T23:00:00.123456+02:00",
    "cover_url": None,
    "status": "published",
    "ticket_categories": [
        {"id": "c", "name": "G", "price": 25.1, "currency": "EUR", "quantity_total": 1, "quantity_sold": 0}
    ],
}


def test_what_is_new_is_kept_and_breaks_nothing() -> None:
    event = read(models.Event, {**EVENT, "status": "postponed", "doors_at": "soon", "ticket_categories": []})
    assert event.status == "postponed"
    assert event.raw["doors_at"] == "soon"
    assert event.starts_at == datetime(2030, 6, 15, 18, tzinfo=UTC)


def test_a_price_is_exact() -> None:
    (category,) = read(models.Event, EVENT).ticket_categories
    assert category.price == Decimal("25.1")


@pytest.mark.parametrize("name", EVENT)
def test_what_is_missing_or_of_another_kind_is_an_error(name: str) -> None:
    with pytest.raises(Unreadable, match=f"lacks {name}"):
        read(models.Event, {key: value for key, value in EVENT.items() if key != name})
    for wrong in (5, {"a": 1}):
        with pytest.raises(Unreadable):
            read(models.Event, {**EVENT, name: wrong})


def test_models_cannot_be_changed_and_a_secret_does_not_show() -> None:
    with FakeGatepass() as fake:
        made = fake.client().webhook_endpoints.create(url="https://example.com", types=["ticket.activated"])
        assert made.secret
        assert made.secret not in repr(made)
        with pytest.raises(AttributeError):
            made.url = "x"  # pyright: ignore[reportAttributeAccessIssue]
    assert {field.name for field in fields(models.ReplayCount)} == {"raw", "total"}
    assert Gatepass.__doc__
