"""Traces of real processes, sent to a real receiver: parents, links, attributes, and no secret among them."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import httpx2
import pytest

from gatepass.api.app import ApiState, create_app
from gatepass.api.fast_path import FastPath
from gatepass.base.batcher import Batcher
from gatepass.base.database import Database
from gatepass.base.settings import BASE_PATH
from gatepass.base.tracing.exporter import MOST_WAITING, TIMEOUT
from tests.api.conftest import request_id, scan_body
from tests.base.tracing.otlp import PATH, Span, children, servers, spans, traced_server
from tests.factory import Tenant
from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.receivers import Receiver, hang, receiving
from tests.scan_probe import ScanProbe
from tests.server.raw_http import exchange, request
from tests.size import NIGHT
from tests.warm.processes import launch

pytestmark = pytest.mark.processes

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{SPAN}-01"
# Each has four spans.
SCANS = MOST_WAITING // 4 + 500
SCAN = f"POST {BASE_PATH}/scan"


@dataclass
class Scene:
    """A process that traces every call; `of` is the server span of an answer."""

    server: GatepassProcess
    receiver: Receiver

    async def of(self, answer: httpx2.Response) -> Span:
        id = answer.headers["x-request-id"]

        def found() -> list[Span]:
            return [span for span in spans(self.receiver) if span.attributes.get("gatepass.request.id") == id]

        await self.receiver.wait_for(lambda: bool(found()))
        (span,) = found()
        return span


@pytest.fixture(scope="module")
async def scene(settings_env: dict[str, str]) -> AsyncGenerator[Scene]:
    async with receiving() as receiver, traced_server(settings_env, receiver.url(PATH)) as server:
        yield Scene(server, receiver)


async def test_a_scan_has_a_span_with_its_wait_and_its_batch(scene: Scene, tenant: Tenant) -> None:
    key, card = await tenant.key(), await tenant.card()
    async with scene.server.client(key.text) as client:
        await client.post("/scan", json=scan_body(tenant, (await tenant.card()).number))
        answer = await client.post("/scan", json=scan_body(tenant, card.number))
    assert answer.status_code == 200
    call = await scene.of(answer)
    assert (call.name, call.kind, call.parent_id, call.service) == (SCAN, "SERVER", "", "gatepass-api")
    assert call.trace_id == request_id(answer).hex
    assert call.attributes == {
        "http.request.method": "POST",
        "http.route": BASE_PATH + "/scan",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "gatepass.request.id": answer.headers["x-request-id"],
        "gatepass.organization.id": str(tenant.id),
        "gatepass.mode": "live",
    }
    assert not call.is_failed
    found = children(scene.receiver, call)
    # The key was cached by the first scan.
    assert found.keys() == {"wait for batch", "activate_scans"}
    wait, part = found["wait for batch"], found["activate_scans"]
    assert {span.trace_id for span in found.values()} == {call.trace_id}
    assert call.began <= wait.began <= wait.ended == part.began <= part.ended <= call.ended
    (batch,) = [span for span in spans(scene.receiver) if call.context in span.links]
    assert part.links == {batch.context}
    assert (batch.name, batch.kind, batch.parent_id) == ("activate_scans", "CLIENT", "")
    assert batch.trace_id != call.trace_id
    assert batch.attributes["db.operation.batch.size"] == 1


async def test_each_call_of_a_batch_is_linked_once(scene: Scene, tenant: Tenant) -> None:
    key, held = await tenant.key(), [await tenant.card() for _ in range(30)]
    async with scene.server.client(key.text) as client:
        answers = await asyncio.gather(
            *[client.post("/scan", json=scan_body(tenant, card.number)) for card in held],
            *[client.get("/card/verify", params={"token": tenant.token(card)}) for card in held],
        )
    assert {answer.status_code for answer in answers} == {200}
    calls = {(await scene.of(answer)).context for answer in answers}
    assert len(calls) == 60
    named = ("activate_scans", "verify_cards")
    batches = [span for span in spans(scene.receiver) if span.links & calls and span.name in named]
    assert sum(len(batch.links) for batch in batches) == 60
    assert sum(int(batch.attributes["db.operation.batch.size"]) for batch in batches) == 60
    assert len(batches) < 60, "no batch served two calls"
    assert {batch.name for batch in batches} == set(named)


async def test_a_call_goes_on_in_the_trace_of_its_caller(scene: Scene, tenant: Tenant) -> None:
    key = await tenant.key()
    async with scene.server.client(key.text) as client:
        answer = await client.get("/card/keys", headers={"traceparent": TRACEPARENT, "tracestate": "vendor=secret"})
    call = await scene.of(answer)
    assert (call.trace_id, call.parent_id, call.name) == (TRACE, SPAN, f"GET {BASE_PATH}/card/keys")
    transaction = children(scene.receiver, call)["postgresql"]
    assert (transaction.trace_id, transaction.kind) == (TRACE, "CLIENT")
    assert transaction.attributes == {"db.system.name": "postgresql"}
    assert call.began <= transaction.began <= transaction.ended <= call.ended
    assert "traceparent" not in answer.headers


async def test_a_refusal_has_its_code_and_is_no_error(scene: Scene, tenant: Tenant) -> None:
    key, card = await tenant.key(), await tenant.card(with_ticket=False)
    async with scene.server.client(key.text) as client:
        refused = await scene.of(await client.post("/scan", json=scan_body(tenant, card.number)))
        unknown = await scene.of(await client.get("/nowhere"))
    async with scene.server.client() as client:
        keyless = await scene.of(await client.get("/events"))
    assert refused.attributes["http.response.status_code"] == 404
    assert refused.attributes["gatepass.code"] == "ticket_not_found"
    assert (unknown.name, unknown.attributes["gatepass.code"]) == ("GET", "not_found")
    assert "http.route" not in unknown.attributes
    assert keyless.attributes["http.response.status_code"] == 401
    assert "gatepass.organization.id" not in keyless.attributes
    assert not any(span.is_failed for span in (refused, unknown, keyless))


async def test_no_secret_is_in_any_span(scene: Scene, tenant: Tenant) -> None:
    key, card, other = await tenant.key(), await tenant.card(), await tenant.card()
    token = tenant.token(card)
    async with scene.server.client(key.text) as client:
        answers = [
            await client.post("/scan", json=scan_body(tenant, token=token), headers={"Idempotency-Key": "idem-secret"}),
            await client.post("/scan", json=scan_body(tenant, other.number, gate="gate-secret")),
            await client.post("/scan", json=scan_body(tenant, token=token[:-4] + "AAAA")),
            await client.post("/scan", content=f'{{"token": "{token}"'.encode()),
            await client.get("/card/verify", params={"token": token}),
            await client.get(f"/events/{token}"),
            await client.get(f"/{card.number}"),
        ]
    async with scene.server.client("gp_wrong-secret") as client:
        answers.append(await client.get("/events"))
    assert {answer.status_code for answer in answers} >= {200, 401, 404}
    for answer in answers:
        await scene.of(answer)
    text = b"".join(message.body for message in scene.receiver.messages).decode()
    head = b"".join(str(message.headers).encode() for message in scene.receiver.messages).decode()
    secrets = (
        key.text, key.text[10:40], token, token.rpartition(".")[2], card.number, card.number.replace(" ", "%20"),
        other.number, "idem-secret", "gate-secret", "wrong-secret", "vendor=secret",
    )  # fmt: skip
    assert [secret for secret in secrets if secret in text or secret in head] == []


async def test_lines_of_the_log_have_the_trace(scene: Scene, tenant: Tenant) -> None:
    key = await tenant.key()
    async with scene.server.client(key.text) as client:
        answer = await client.get("/nowhere", headers={"traceparent": TRACEPARENT})
    line = await asyncio.to_thread(scene.server.wait_for_line, answer.headers["x-request-id"])
    assert json.loads(line)["trace_id"] == TRACE


async def test_a_pipelined_call_is_not_in_the_trace_of_the_one_before(
    settings_env: dict[str, str], tenant: Tenant
) -> None:
    key, held = await tenant.key(), [await tenant.card() for _ in range(2)]

    def scan(number: str, *headers: tuple[str, str]) -> bytes:
        body = json.dumps(scan_body(tenant, number)).encode()
        return request("POST", BASE_PATH + "/scan", [("Authorization", f"Bearer {key.text}"), *headers], body)

    pipelined = scan(held[0].number, ("traceparent", TRACEPARENT)) + scan(held[1].number)
    async with receiving() as receiver:
        async with traced_server(settings_env, receiver.url(PATH), ratio=0, by_callers=10) as server:
            found = await asyncio.to_thread(exchange, server.port, pipelined, expect=2)
        assert found.statuses == [200, 200]
        assert [span.name for span in spans(receiver) if span.trace_id == TRACE].count("activate_scans") == 1
        assert len([span for span in spans(receiver) if span.kind == "SERVER"]) == 1


async def test_a_call_that_could_not_be_served_is_an_error(settings_env: dict[str, str], tenant: Tenant) -> None:
    key = await tenant.key()
    environment = {"GATEPASS_DATABASE_URL": f"postgresql://nobody@127.0.0.1:{free_port()}/none"}
    async with receiving() as receiver:
        more = {"GATEPASS_TRACES_URL": receiver.url(PATH), "GATEPASS_TRACES_RATIO": "1"}
        server = launch({**settings_env, **environment, **more}, free_port(), "--only", "api")
        try:
            await asyncio.to_thread(server.wait_for_line, "listens on")
            async with server.client(key.text) as client:
                answer = await client.get("/events")
        finally:
            await asyncio.to_thread(server.stop)
        (call,) = await servers(receiver, 1)
        assert answer.status_code == call.attributes["http.response.status_code"] == 503
        assert call.is_failed
        assert call.attributes["error.type"] == "connect"
        look_up = children(receiver, call)["find_api_keys"]
        assert look_up.is_failed
        (batch,) = [span for span in spans(receiver) if span.context in look_up.links]
        assert (batch.is_failed, batch.attributes["error.type"]) == (True, "connect")


async def test_the_ratio_is_that_of_the_setting(settings_env: dict[str, str]) -> None:
    async with receiving() as receiver:
        async with traced_server(settings_env, receiver.url(PATH), ratio=0.25) as server, server.client() as client:
            for _ in range(8):
                await asyncio.gather(*[client.get(f"{server.url}/livez") for _ in range(50)])
        # What was still waiting was sent when the process stopped. Six standard deviations on each side.
        assert abs(len(spans(receiver)) - 100) < 6 * 9


@pytest.mark.parametrize("receiver_is", ["away", "hanging"])
async def test_no_scan_waits_for_the_receiver(settings_env: dict[str, str], tenant: Tenant, receiver_is: str) -> None:
    """More spans than the queue holds. The exporter's own deadline is five seconds."""
    key, card, metrics = await tenant.key(), await tenant.card(), free_port()
    async with receiving(otherwise=hang) as receiver:
        url = receiver.url(PATH) if receiver_is == "hanging" else f"http://127.0.0.1:{free_port()}{PATH}"
        async with traced_server(settings_env, url, GATEPASS_METRICS_PORT=str(metrics)) as server:
            with ScanProbe(server.port, key.text, tenant.event_id, card.number, pause=0) as probe:
                async with asyncio.timeout(60):
                    while len(probe.scans) < SCANS:  # noqa: ASYNC110  a thread fills it
                        await asyncio.sleep(0.05)
            async with httpx2.AsyncClient() as client:
                shown = (await client.get(f"http://127.0.0.1:{metrics}/metrics")).text
            began = time.monotonic()
            assert await asyncio.to_thread(server.stop) == 0
            if NIGHT:
                assert time.monotonic() - began < TIMEOUT
    assert {scan.status for scan in probe.scans} == {200, 409}
    if NIGHT:
        assert max(scan.seconds for scan in probe.scans) < 1
    lost = f'gatepass_spans_lost_total{{reason="{"queue_full" if receiver_is == "hanging" else "unreachable"}"}}'
    assert lost in shown


async def test_without_the_setting_nothing_of_it_is_in_the_path(
    inside: tuple[httpx2.AsyncClient, ApiState],
) -> None:
    _, state = inside
    assert state.tracer is None
    assert type(state.scans) is type(state.questions) is Batcher
    assert type(state.db) is Database
    app = create_app(state.settings)
    assert type(app._app) is FastPath
    await app.state.close()
