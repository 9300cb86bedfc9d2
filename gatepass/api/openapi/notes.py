"""Notes about an operation: the parts of its description that its route does not contain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

from gatepass.api.openapi import schemas
from gatepass.api.request import LARGEST_BODY, LONGEST_IDEMPOTENCY_KEY
from gatepass.api.schemas import MOST
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.domain.keys import Scope

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Success:
    """A success besides the usual one."""

    status: int
    description: str
    model: type[BaseModel]
    shown: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Notes:
    """`scope` is None where only the key of a device is let in, whatever its scopes."""

    id: str
    summary: str
    description: str
    scope: Scope | None
    success: str
    shown: Mapping[str, Json]
    refusals: tuple[Refusal, ...] = ()
    parameters: tuple[Json, ...] = ()
    body: Json | None = None
    headers: tuple[str, ...] = ()
    replayable: bool = False
    also: tuple[Success, ...] = ()
    # Of a body that is not JSON.
    media_type: str | None = None
    # Responses without a model, by status.
    more: Mapping[str, Json] = field(default_factory=dict[str, Json])


def query(name: str, description: str, schema: Json, **more: Any) -> Json:
    return {"name": name, "in": "query", "description": description, "schema": schema, **more}


def path(name: str, description: str, example: str) -> Json:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": {"type": "string", "format": "uuid"},
        "example": example,
    }


def body(schema: str, shown: Mapping[str, Json], *, required: bool = True, largest: int = LARGEST_BODY) -> Json:
    return {
        "required": required,
        "description": f"At most {largest // 1024:,} KiB of JSON.",
        "content": {"application/json": {"schema": schemas.ref(schema), "examples": dict(shown)}},
    }


# It has no example: the page would fill it in, and the second call of a reader would be refused for a reused key.
IDEMPOTENCY_KEY: Final[Json] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": (
        "A value of your own that is new for each thing to be done and the same for each retry of it, such as a UUID. "
        "A retry does nothing more, and gets its answer again for at least 24 hours: its status, and the object as "
        "it is now. Scans and all other calls share one set of keys; live and sandbox keys do not mix."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_IDEMPOTENCY_KEY},
}
IF_MATCH: Final[Json] = {
    "name": "If-Match",
    "in": "header",
    "description": (
        "The `ETag` of the answer that you have read it from. If it was changed since, nothing is done, and the answer "
        "is 412 `changed_meanwhile`."
    ),
    "schema": {"type": "string"},
}

IF_NONE_MATCH: Final[Json] = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The `ETag` of the answer that you have. If it would be the same, it is 304 and has no body.",
    "schema": {"type": "string"},
}

LIMIT: Final = query(
    "limit", "How many items a page has at most.", {"type": "integer", "minimum": 1, "maximum": MOST, "default": MOST}
)
CURSOR: Final = query("cursor", "Where the page begins: `next_cursor` of the page before.", {"type": "string"})
BAD_LIMIT: Final = InvalidRequest(f"limit is a whole number from 1 to {MOST}.", param="limit")
BAD_CURSOR: Final = InvalidRequest("cursor is not one that this list gave out.", param="cursor")
