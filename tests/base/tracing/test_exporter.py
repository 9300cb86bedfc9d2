"""The exporter: whatever the receiver does, nothing waits for it, memory is bounded, and every span is counted."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import CollectorRegistry

from gatepass.base.tracing import exporter as exporter_module
from gatepass.base.tracing.exporter import BATCH, CLOSE_TIMEOUT, MOST_WAITING, Exporter
from gatepass.base.tracing.span import Kind, Span, new_trace_id
from tests.base.tracing.otlp import PATH, spans
from tests.postgres import free_port
from tests.receivers import hang, receiving, status
from tests.size import NIGHT, dice


class Scene:
    def __init__(self, url: str) -> None:
        self.registry = CollectorRegistry()
        self.exporter = Exporter(url, "test", "a", self.registry)

    def add(self, count: int) -> None:
        for _ in range(count):
            span = Span("work", Kind.INTERNAL, {"n": 1, "text": 'of "words" \n'}, trace_id=new_trace_id())
            span.ended = span.began + 1
            self.exporter.add(span)

    def lost(self, reason: str) -> float:
        return self.registry.get_sample_value("gatepass_spans_lost_total", {"reason": reason}) or 0

    def sent(self) -> float:
        return self.registry.get_sample_value("gatepass_spans_sent_total") or 0

    async def until_lost(self, reason: str, count: int) -> None:
        async with asyncio.timeout(60):
            while self.lost(reason) < count:  # noqa: ASYNC110  a counter says nothing by itself
                await asyncio.sleep(0.01)


@asynccontextmanager
async def exporting(url: str) -> AsyncGenerator[Scene]:
    scene = Scene(url)
    scene.exporter.open()
    try:
        yield scene
    finally:
        await scene.exporter.close()


async def test_spans_arrive_in_batches_and_the_rest_when_it_closes() -> None:
    async with receiving() as receiver:
        async with exporting(receiver.url(PATH)) as scene:
            scene.add(2 * BATCH + 3)
            await receiver.wait(2)
        found = spans(receiver)
    assert len(found) == scene.sent() == 2 * BATCH + 3
    assert len({span.id for span in found}) == len(found)
    assert found[0].attributes == {"n": 1, "text": 'of "words" \n'}
    assert [found[0].service, found[0].ended - found[0].began] == ["test", 1]


async def test_one_connection_is_kept() -> None:
    async with receiving(otherwise=status(200, b'{"partialSuccess":{}}')) as receiver:
        async with exporting(receiver.url(PATH)) as scene:
            scene.add(4 * BATCH)
            await receiver.wait(4)
        assert receiver.connections == 1


async def test_what_finds_no_room_is_lost_and_counted() -> None:
    async with receiving(otherwise=hang) as receiver, exporting(receiver.url(PATH)) as scene:
        scene.add(BATCH)
        await receiver.wait(1)
        scene.add(MOST_WAITING + 7)
        assert scene.lost("queue_full") == 7


async def test_a_receiver_that_is_away_loses_spans_and_gets_the_next() -> None:
    port = free_port()
    async with exporting(f"http://127.0.0.1:{port}{PATH}") as scene:
        scene.add(BATCH)
        await scene.until_lost("unreachable", BATCH)
        async with receiving(port=port) as receiver:
            scene.add(1)
            await scene.exporter.close()
            assert len(spans(receiver)) == scene.sent() == 1


async def test_a_refused_batch_is_not_sent_again() -> None:
    async with receiving(answers=[503, 302]) as receiver, exporting(receiver.url(PATH)) as scene:
        scene.add(3 * BATCH)
        await receiver.wait(3)
        await scene.exporter.close()
        assert scene.lost("refused") == 2 * BATCH
    assert len(receiver.messages) == 3
    assert scene.sent() == BATCH


async def test_closing_does_not_wait_for_a_receiver_that_hangs() -> None:
    async with receiving(otherwise=hang) as receiver:
        async with exporting(receiver.url(PATH)) as scene:
            scene.add(BATCH)
            await receiver.wait(1)
            began = time.monotonic()
        if NIGHT:
            assert time.monotonic() - began < CLOSE_TIMEOUT + 1
    assert scene.sent() == 0
    assert scene.lost("stopped") == BATCH


@pytest.mark.nightly
async def test_closing_ends_though_the_request_times_out_in_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, so that both come in one turn of the event loop. Each exporter has 16 batches to wait for."""
    monkeypatch.setattr(exporter_module, "TIMEOUT", 2.0)
    monkeypatch.setattr(exporter_module, "CLOSE_TIMEOUT", 1.0)

    chance = dice()

    async def closed(url: str) -> float:
        async with exporting(url) as scene:
            scene.add(MOST_WAITING)
            await asyncio.sleep(chance.uniform(0.9, 1.2))
            began = time.monotonic()
        return time.monotonic() - began

    async with receiving(otherwise=hang) as receiver:
        burning = asyncio.create_task(burn())
        took = await asyncio.gather(*[closed(receiver.url(PATH)) for _ in range(60)])
        burning.cancel()
    assert max(took) < 5  # 30 without the second cancellation


async def burn() -> None:
    while True:
        ends = time.monotonic() + 0.01
        while time.monotonic() < ends:
            pass
        await asyncio.sleep(0)
