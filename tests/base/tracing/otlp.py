"""The spans that a receiver got, decoded by the schema of OpenTelemetry itself: an unknown field is an error."""

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Wire

from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.receivers import Received, Receiver
from tests.warm.processes import serve

PATH = "/v1/traces"
IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}


@dataclass(frozen=True)
class Span:
    trace_id: str
    id: str
    parent_id: str
    name: str
    kind: str
    began: int
    ended: int
    attributes: dict[str, str | int]
    links: frozenset[tuple[str, str]]
    is_failed: bool
    service: str

    @property
    def context(self) -> tuple[str, str]:
        return self.trace_id, self.id


# By receiver, as many messages as are decoded.
_DECODED: WeakKeyDictionary[Receiver, list[list[Span]]] = WeakKeyDictionary()


def spans(receiver: Receiver) -> list[Span]:
    known = _DECODED.setdefault(receiver, [])
    known += [decoded(message) for message in receiver.messages[len(known) :]]
    return [span for message in known for span in message]


def decoded(message: Received) -> list[Span]:
    assert message.path == PATH
    assert message.headers["content-type"] == "application/json"
    # Ids are hexadecimal in OTLP, and base64 in the JSON of every other Protobuf message.
    body = json.loads(message.body, object_hook=_with_base64)
    request = json_format.ParseDict(body, ExportTraceServiceRequest())
    return [
        _span(span, _attributes(resource.resource)["service.name"])
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _with_base64(found: dict[str, Any]) -> dict[str, Any]:
    for name, length in IDS.items():
        if name in found:
            assert re.fullmatch(f"[0-9a-f]{{{length}}}", found[name]), found[name]
            found[name] = b64encode(bytes.fromhex(found[name])).decode()
    return found


def _span(span: Any, service: str | int) -> Span:
    return Span(
        trace_id=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        name=span.name,
        kind=Wire.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        attributes=_attributes(span),
        links=frozenset((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
        is_failed=span.status.code == 2,
        service=str(service),
    )


def _attributes(of: Any) -> dict[str, str | int]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in of.attributes}


async def servers(receiver: Receiver, count: int) -> list[Span]:
    """Wait for the server spans of this many calls. The spans of what they did have come by then."""

    def found() -> list[Span]:
        return [span for span in spans(receiver) if span.kind == "SERVER"]

    await receiver.wait_for(lambda: len(found()) >= count)
    return found()


def children(receiver: Receiver, of: Span) -> dict[str, Span]:
    return {span.name: span for span in spans(receiver) if span.parent_id == of.id}


@asynccontextmanager
async def traced_server(
    settings_env: dict[str, str], url: str, *, ratio: float = 1, by_callers: int = 0, **more: str
) -> AsyncGenerator[GatepassProcess]:
    environment = {
        **settings_env,
        "GATEPASS_TRACES_URL": url,
        "GATEPASS_TRACES_RATIO": str(ratio),
        "GATEPASS_TRACES_BY_CALLERS": str(by_callers),
        **more,
    }
    process = await asyncio.to_thread(serve, environment, free_port(), "--only", "api")
    try:
        yield process
    finally:
        # In a thread, because it sends the last spans to a receiver in this event loop.
        await asyncio.to_thread(process.stop)
