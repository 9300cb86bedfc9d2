"""A span: a part of a trace, with a name, a beginning and an end. `encoded` is its form in OTLP/JSON.

Attributes are chosen one by one. A card number, a token, a key, a path or a query is never among them.
"""

import random
import time
from contextvars import ContextVar
from enum import IntEnum
from typing import Any, Final

import msgspec

from gatepass.base.errors import NotNow, Refusal

Value = str | int
Attributes = dict[str, Value]

_ENCODER: Final = msgspec.json.Encoder()
ERROR: Final = {"code": 2}


class Kind(IntEnum):
    INTERNAL = 1
    SERVER = 2
    CLIENT = 3


class Span:
    __slots__ = (
        "attributes",
        "began",
        "ended",
        "is_failed",
        "kind",
        "links",
        "name",
        "parent_id",
        "span_id",
        "trace_id",
    )

    def __init__(
        self, name: str, kind: Kind, attributes: Attributes, *, trace_id: str, parent_id: str = "", began: int = 0
    ) -> None:
        """It begins now, or at this time in nanoseconds."""
        self.name = name
        self.kind = kind
        self.attributes = attributes
        self.trace_id = trace_id
        self.parent_id = parent_id
        self.span_id = f"{random.getrandbits(64) or 1:016x}"
        self.links: list[Span] = []
        self.is_failed = False
        self.began = began or time.time_ns()
        self.ended = 0

    def child(self, name: str, kind: Kind, attributes: Attributes, *, began: int = 0) -> "Span":
        return Span(name, kind, attributes, trace_id=self.trace_id, parent_id=self.span_id, began=began)

    def fail(self, error: BaseException) -> None:
        """Note an error of ours. A refusal is an answer, unless the service could not serve the call."""
        if isinstance(error, NotNow):
            self.fail_with(error.cause)
        elif not isinstance(error, Refusal):
            self.fail_with(type(error).__name__)

    def fail_with(self, kind: str) -> None:
        self.is_failed = True
        self.attributes["error.type"] = kind

    def encoded(self) -> bytes:
        fields: dict[str, Any] = {
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "name": self.name,
            "kind": self.kind,
            # 64-bit numbers are strings in the JSON of Protobuf.
            "startTimeUnixNano": str(self.began),
            "endTimeUnixNano": str(self.ended),
            "attributes": encodable(self.attributes),
        }
        if self.parent_id:
            fields["parentSpanId"] = self.parent_id
        if self.links:
            fields["links"] = [{"traceId": to.trace_id, "spanId": to.span_id} for to in self.links]
        if self.is_failed:
            fields["status"] = ERROR
        return _ENCODER.encode(fields)


def encodable(attributes: Attributes) -> list[dict[str, Any]]:
    return [
        {"key": name, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}}
        for name, value in attributes.items()
    ]


def new_trace_id() -> str:
    return f"{random.getrandbits(128) or 1:032x}"


# The span of the call that this code runs for; None if the call is not traced.
current_span: Final[ContextVar[Span | None]] = ContextVar("current_span", default=None)
