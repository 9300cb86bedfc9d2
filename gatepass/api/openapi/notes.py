"""Notes about an operation: the parts of its description that its route does not contain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from gatepass.api.openapi import schemas
from gatepass.api.request import LARGEST_BODY
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
    id: str
    summary: str
    description: str
    scope: Scope
    success: str
    shown: Mapping[str, Json]
    refusals: tuple[Refusal, ...] = ()
    parameters: tuple[Json, ...] = ()
    body: Json | None = None
    headers: tuple[str, ...] = ()
    replayable: bool = False
    also: tuple[Success, ...] = ()


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


def body(schema: str, shown: Mapping[str, Json], *, required: bool = True) -> Json:
    return {
        "required": required,
        "description": f"At most {LARGEST_BODY // 1024} KiB of JSON.",
        "content": {"application/json": {"schema": schemas.ref(schema), "examples": dict(shown)}},
    }


LIMIT: Final = query(
    "limit", "How many items a page has at most.", {"type": "integer", "minimum": 1, "maximum": MOST, "default": MOST}
)
CURSOR: Final = query("cursor", "Where the page begins: `next_cursor` of the page before.", {"type": "string"})
BAD_LIMIT: Final = InvalidRequest(f"limit is a whole number from 1 to {MOST}.", param="limit")
BAD_CURSOR: Final = InvalidRequest("cursor is not one that this list gave out.", param="cursor")
