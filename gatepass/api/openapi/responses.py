"""The responses of an operation: statuses, codes and headers. Statuses come from the table of refusals."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gatepass.api.once import KEPT_REFUSALS
from gatepass.api.openapi import examples
from gatepass.api.openapi.schemas import ref
from gatepass.api.responses import SANDBOX_STATUS, STATUS, InternalError
from gatepass.base.errors import Overloaded, Refusal, Unavailable
from gatepass.base.settings import BASE_PATH
from gatepass.base.wire_constants import SHOULD_RETRY_HEADER
from gatepass.domain import keys, limits, organizations
from gatepass.domain.tickets.activation import REFUSALS

Json = dict[str, Any]

# Refusals that any operation may give.
EVERYWHERE: Final[tuple[type[Refusal], ...]] = (
    keys.InvalidKey,
    keys.RevokedDevice,
    keys.WrongCell,
    keys.InsufficientScope,
    organizations.OrganizationSuspended,
    limits.RateLimited,
    InternalError,
    Unavailable,
    Overloaded,
)

MEANINGS: Final = {
    400: "The request is not valid.",
    401: "The key is missing, invalid or revoked.",
    403: "The key lacks the scope, or its organization is suspended.",
    404: "Not found, or another organization's.",
    409: "The present state does not allow it.",
    410: "The token has expired.",
    412: "It was changed since it was read.",
    413: "The body is too large.",
    421: "The key belongs to another cell.",
    422: "Understood, and refused.",
    429: "Too many calls; come back after `Retry-After`.",
    500: "A fault of ours; try again.",
    503: "Not now; try again in a moment.",
}

NAMES: Final = {
    401: "InvalidKey",
    403: "InsufficientScope",
    421: "WrongCell",
    429: "RateLimited",
    500: "InternalError",
    503: "Unavailable",
}

REQUEST_ID: Final = "x-request-id"
RATE: Final = ("RateLimit", "RateLimit-Policy")
REPLAYED: Final = "Idempotent-Replayed"
LINK: Final = "Link"
ETAG: Final = "ETag"
CURSOR: Final = "Gatepass-Cursor"

# A header is marked as required where it is listed and always sent.
HEADERS: Final[dict[str, Json]] = {
    REQUEST_ID: {
        "description": "The id of this call, in our logs and in the request log.",
        "required": True,
        "schema": {"type": "string", "pattern": "^req_[0-9a-f]{32}$"},
        "example": "req_01a1dcb84b3a708e93f58fda83e65220",
    },
    "RateLimit": {
        "description": "What is left of the key's rate (`r`), and in how many seconds it is full again (`t`).",
        "schema": {"type": "string"},
        "example": '"default";r=199;t=1',
    },
    "RateLimit-Policy": {
        "description": "The key's rate: how many calls (`q`) in how many seconds (`w`).",
        "schema": {"type": "string"},
        "example": '"default";q=200;w=2',
    },
    SHOULD_RETRY_HEADER: {
        "description": "Whether the same call may succeed if it is made again.",
        "required": True,
        "schema": {"type": "string", "enum": ["true", "false"]},
    },
    "Retry-After": {
        "description": "Seconds to wait before the next try.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
        "example": 1,
    },
    "WWW-Authenticate": {
        "description": "How to authenticate.",
        "required": True,
        "schema": {"type": "string", "const": "Bearer"},
    },
    REPLAYED: {
        "description": "Sent when this is the stored answer to an earlier call with the same `Idempotency-Key`.",
        "schema": {"type": "string", "const": "true"},
    },
    ETAG: {
        "description": (
            "Another one after every change: send it as `If-Match` to change the object as you read it, or, where "
            "a 304 is described, as `If-None-Match` to read it only if it has changed."
        ),
        "schema": {"type": "string"},
        "example": '"0d3b1d6cf0f65a4f8c7a4b6a3c1e2f90"',
    },
    CURSOR: {
        "description": "The cursor for the next call.",
        "required": True,
        "schema": {"type": "string"},
    },
    LINK: {
        "description": "The next page, if there is one.",
        "schema": {"type": "string"},
        "example": f'<https://gatepass.example{BASE_PATH}/events?limit=1&cursor={examples.CURSOR}>; rel="next"',
    },
}


def success(description: str, schema: str | None, shown: Mapping[str, Json], headers: Iterable[str] = ()) -> Json:
    """A response with this schema; without one it has no body."""
    content = {"application/json": {"schema": ref(schema), "examples": dict(shown)}} if schema else None
    return {
        "description": description,
        "headers": _headers(REQUEST_ID, *RATE, *headers),
        **({"content": content} if content else {}),
    }


def refusals(own: Iterable[Refusal], *, replayable: bool = False) -> dict[str, Json]:
    """The responses for an operation's own refusals, and references to those that any operation may give.

    `replayable`: verdicts are stored for a retry with the same Idempotency-Key.
    """
    by_status: defaultdict[int, list[Refusal]] = defaultdict(list)
    for refusal in own:
        kind = type(refusal)
        by_status[STATUS[kind]].append(refusal)
        if kind in SANDBOX_STATUS:
            by_status[SANDBOX_STATUS[kind]].append(examples.IN_THE_SANDBOX.get(kind, refusal))
    answers = {str(status): _refusal(status, found, replayable=replayable) for status, found in by_status.items()}
    answers |= {str(status): {"$ref": f"#/components/responses/{name}"} for status, name in NAMES.items()}
    return dict(sorted(answers.items()))


def shared() -> dict[str, Json]:
    """The responses that any operation may give."""
    return {
        name: _refusal(status, [kind() for kind in EVERYWHERE if STATUS[kind] == status])
        for status, name in NAMES.items()
    }


def _refusal(status: int, found: list[Refusal], *, replayable: bool = False) -> Json:
    codes = {refusal.code: refusal.sentence() for refusal in found}
    code = {"enum": list(codes), "description": "\n".join(f"- `{code}`: {text}" for code, text in codes.items())}
    schema = {"allOf": [{"type": "object", "properties": {"code": code}}, ref("Error")]}
    return {
        "description": _meaning(status, found),
        "headers": _headers(REQUEST_ID, SHOULD_RETRY_HEADER, *_also(status), *_replayed(found if replayable else [])),
        "content": {"application/json": {"schema": schema, "examples": examples.refused(found)}},
    }


def _meaning(status: int, found: list[Refusal]) -> str:
    fixed = any(SANDBOX_STATUS.get(type(refusal)) == status for refusal in found)
    return MEANINGS[status] + (" With a sandbox key also: a used, expired or revoked test card." if fixed else "")


def _also(status: int) -> Iterable[str]:
    if status == 401:
        yield "WWW-Authenticate"
    elif status != STATUS[keys.WrongCell]:  # that key is not looked up here, so it has no rate
        yield from RATE
    if status in (429, 503):
        yield "Retry-After"


def _replayed(found: list[Refusal]) -> Iterable[str]:
    if any(refusal.code in REFUSALS or STATUS[type(refusal)] in KEPT_REFUSALS for refusal in found):
        yield REPLAYED


def _headers(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
