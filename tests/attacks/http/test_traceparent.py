"""`traceparent` is written by strangers: it must not fill our disk with traces, hide a call, or break one."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from gatepass.base.settings import BASE_PATH
from tests.base.tracing.otlp import PATH, Span, servers, spans, traced_server
from tests.base.tracing.test_trace_context import GOOD, MALFORMED, TRACE
from tests.processes import GatepassProcess
from tests.receivers import Receiver, receiving
from tests.server.raw_http import one, request

BY_CALLERS = 5
CALLS = 400


@dataclass
class Traced:
    server: GatepassProcess
    receiver: Receiver

    async def span(self, *headers: tuple[str, str]) -> Span:
        """The span of a call with these headers, which is answered as without them."""
        answer = await asyncio.to_thread(one, self.server.port, request("GET", "/livez", headers))
        assert answer.status == 200
        id = answer.headers["x-request-id"]
        await self.receiver.wait_for(lambda: self._found(id) is not None)
        found = self._found(id)
        assert found is not None
        return found

    def _found(self, id: str) -> Span | None:
        return next((span for span in spans(self.receiver) if span.attributes.get("gatepass.request.id") == id), None)


@pytest.fixture(scope="module")
async def traced(settings_env: dict[str, str]) -> AsyncGenerator[Traced]:
    """A server that traces every call."""
    async with receiving() as receiver, traced_server(settings_env, receiver.url(PATH)) as server:
        yield Traced(server, receiver)


@pytest.mark.parametrize(
    "name", [name for name in MALFORMED if name not in ("a line break", "a NUL", "a space before")]
)
async def test_a_malformed_one_begins_a_trace_of_our_own(traced: Traced, name: str) -> None:
    """Bytes that no header may hold are refused before: see test_framing."""
    span = await traced.span(("traceparent", MALFORMED[name].decode("latin-1")))
    assert span.trace_id == str(span.attributes["gatepass.request.id"]).removeprefix("req_")
    assert span.parent_id == ""


async def test_two_begin_a_trace_of_our_own(traced: Traced) -> None:
    span = await traced.span(*[("traceparent", GOOD.decode())] * 2)
    assert span.trace_id != TRACE.decode()


async def test_nothing_of_tracestate_or_baggage_is_taken(traced: Traced) -> None:
    span = await traced.span(("traceparent", GOOD.decode()), ("tracestate", "x=stranger"), ("baggage", "y=stranger"))
    assert span.trace_id == TRACE.decode()
    assert "stranger" not in str(span)
    assert not any(b"stranger" in message.body for message in traced.receiver.messages)


@pytest.mark.parametrize("method", ["PROPFIND", "M-SEARCH"])
async def test_a_strange_method_is_no_name_of_a_span(traced: Traced, method: str) -> None:
    before = len(await servers(traced.receiver, 0))
    await asyncio.to_thread(one, traced.server.port, request(method, BASE_PATH + "/events"))
    span = (await servers(traced.receiver, before + 1))[-1]
    assert (span.name.split()[0], span.attributes["http.request.method"]) == ("HTTP", "_OTHER")


async def test_nobody_makes_us_trace_every_call(settings_env: dict[str, str]) -> None:
    async with receiving() as receiver:
        url = receiver.url(PATH)
        async with traced_server(settings_env, url, ratio=0, by_callers=BY_CALLERS) as server:
            began, asking = time.monotonic(), {"traceparent": GOOD.decode()}
            calls, most = 0, 0
            async with server.client() as client:
                while calls < CALLS or calls < 2 * most:  # so many that the bound says something
                    await asyncio.gather(*[client.get(f"{server.url}/livez", headers=asking) for _ in range(50)])
                    calls += 50
                    most = BY_CALLERS * (int(time.monotonic() - began) + 2)
        assert BY_CALLERS <= len(spans(receiver)) <= most


async def test_nobody_hides_a_call(traced: Traced) -> None:
    span = await traced.span(("traceparent", GOOD.decode()[:-2] + "00"))
    assert span.trace_id == TRACE.decode()
