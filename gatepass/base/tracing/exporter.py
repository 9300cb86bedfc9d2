"""The exporter sends spans to a receiver of OTLP over HTTP, such as an OpenTelemetry Collector.

Whatever the receiver does, no call waits for it: spans wait in a bounded queue, and those that find no room, or that
cannot be sent, are lost and counted. Nothing is sent twice.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final

import aiohttp
import msgspec
from prometheus_client import CollectorRegistry, Counter

from gatepass import __version__
from gatepass.base.ids import new_id
from gatepass.base.log import logger
from gatepass.base.tracing.span import Span, encodable

# Some 4 MB.
MOST_WAITING: Final = 4096
BATCH: Final = 256
# Seconds between two requests, unless a whole batch waits.
APART: Final = 1.0
TIMEOUT: Final = 5.0
# Seconds for the rest when the process stops.
CLOSE_TIMEOUT: Final = 2.0
LARGEST_ANSWER: Final = 16 * 1024

log = logger(__name__)


class Exporter:
    def __init__(self, url: str, service: str, cell: str, registry: CollectorRegistry) -> None:
        self._url = url
        resource = encodable(
            {
                "service.name": service,
                "service.version": __version__,
                "service.instance.id": str(new_id()),
                "gatepass.cell": cell,
            }
        )
        self._before = (
            b'{"resourceSpans":[{"resource":{"attributes":'
            + msgspec.json.encode(resource)
            + b'},"scopeSpans":[{"scope":{"name":"gatepass"},"spans":['
        )
        self._after = b"]}]}]}"
        self._waiting: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._is_failing = False
        self._task: asyncio.Task[None] | None = None
        self._sent = Counter("gatepass_spans_sent", "Spans that the receiver of traces took", registry=registry)
        self._lost = Counter(
            "gatepass_spans_lost", "Spans that were not sent, by reason", ["reason"], registry=registry
        )
        self._found_no_room = self._lost.labels("queue_full")

    def open(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Send the rest, if the receiver takes it at once."""
        self._closing.set()
        self._wake.set()
        if (task := self._task) is not None:
            await asyncio.wait([task], timeout=CLOSE_TIMEOUT)
            # More than once: one that comes together with the timeout of a request is lost in aiohttp or in wait_for.
            while not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=0.1)
            with suppress(asyncio.CancelledError):
                await task
        self._lost.labels("stopped").inc(len(self._waiting))

    def add(self, span: Span) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._found_no_room.inc()
            return
        # Encoded one by one, so that no batch holds up the event loop.
        self._waiting.append(span.encoded())
        if len(self._waiting) >= BATCH:
            self._wake.set()

    async def _run(self) -> None:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT)
        async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
            while self._waiting or not self._closing.is_set():
                if not self._closing.is_set() and len(self._waiting) < BATCH:
                    await _wait(self._wake, APART)
                self._wake.clear()
                if self._waiting:
                    await self._send(session, [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))])

    async def _send(self, session: aiohttp.ClientSession, spans: list[bytes]) -> None:
        body = self._before + b",".join(spans) + self._after
        headers = {"content-type": "application/json"}
        try:
            async with session.post(self._url, data=body, headers=headers, allow_redirects=False) as answer:
                await answer.content.read(LARGEST_ANSWER)
                status = answer.status
        except asyncio.CancelledError:
            self._lost.labels("stopped").inc(len(spans))
            raise
        except Exception as error:  # noqa: BLE001  whatever is wrong with the receiver, the next batch is tried too
            self._fail(len(spans), "unreachable", type(error).__name__)
            await _wait(self._closing, APART)
            return
        if status == 200:
            self._sent.inc(len(spans))
            self._is_failing = False
        else:
            self._fail(len(spans), "refused", str(status))

    def _fail(self, count: int, reason: str, error: str) -> None:
        self._lost.labels(reason).inc(count)
        if not self._is_failing:
            log.warning("spans cannot be sent", reason=reason, error=error)
        self._is_failing = True


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
