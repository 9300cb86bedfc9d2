"""The W3C Trace Context of a caller: its `traceparent` header. `tracestate` is not read."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

TRACEPARENT: Final = b"traceparent"
# A later version may add fields to the end; more than this is not ours to read.
LONGEST: Final = 256
SAMPLED: Final = 1
FORMAT: Final = re.compile(
    rb"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?"
)


class TraceParent(NamedTuple):
    """The span of the caller, and whether the caller traces it."""

    trace_id: str
    span_id: str
    is_sampled: bool


def trace_parent(headers: Iterable[tuple[bytes, bytes]]) -> TraceParent | None:
    """The caller's span. None without a header, with two, or with one that is malformed."""
    value = None
    for name, found in headers:
        if name == TRACEPARENT:
            if value is not None:
                return None
            value = found
    return None if value is None else _parsed(value)


def _parsed(value: bytes) -> TraceParent | None:
    found = FORMAT.fullmatch(value) if len(value) <= LONGEST else None
    if found is None or (found[1] == b"00" and found[5] is not None):
        return None
    return TraceParent(found[2].decode(), found[3].decode(), bool(int(found[4], 16) & SAMPLED))
