"""The webhook messages: their bodies, and the headers that sign them."""

from typing import Any, Final

from gatepass.api.openapi.schemas import ref
from gatepass.base.wire_constants import (
    ATTEMPT_HEADER,
    DELIVERY_HEADER,
    EVENT_HEADER,
    NEXT_SIGNATURE_HEADER,
    REPLAY_HEADER,
    SIGNATURE_HEADER,
)
from gatepass.domain import sandbox
from gatepass.domain.message_catalogue import (
    AN_ID,
    CARD_STATUS,
    ID,
    MESSAGE_ID,
    MESSAGES,
    TEXT,
    Json,
    MessageKind,
    example_of,
    schema_of,
)

SECONDS: Final = int(sandbox.CATALOGUE_ENTRY.event.starts_at.timestamp())

TAG: Final = "Messages"


def webhooks() -> dict[str, Json]:
    return {message.type: {"post": _operation(message)} for message in MESSAGES}


def message_schemas() -> dict[str, Json]:
    return {message.schema_name: _schema(message) for message in MESSAGES}


def _schema(message: MessageKind) -> Json:
    """The schema from the catalogue; types that have a name in this description become references."""
    schema = schema_of(message)
    fields = schema["properties"]["data"]["properties"]
    for name, field in fields.items():
        fields[name] = ref("CardStatus") if field is CARD_STATUS else field
    return schema


def _operation(message: MessageKind) -> Json:
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


HEX64: Final = "5f8d" * 16
SIGNATURE: Final[Json] = {"type": "string", "pattern": "^t=[0-9]+,v1=[0-9a-f]{64}$"}
SIGNED: Final = f"t={SECONDS}000,v1={HEX64}"

# Name, required, description, schema, example. An example of None means the type of the message.
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


def _header(message: MessageKind, name: str, required: bool, description: str, schema: Json, example: Any) -> Json:  # noqa: FBT001
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string", "const": message.type} if example is None else schema,
        "example": message.type if example is None else example,
    }
