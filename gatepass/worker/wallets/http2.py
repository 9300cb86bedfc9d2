"""A connection over HTTP/2, which Apple's push service wants and aiohttp does not speak. `h2` is the protocol.

It posts small bodies and reads short answers. One that fails in any way is closed, and the caller opens another.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, Event, ResponseReceived, StreamEnded, StreamReset
from h2.exceptions import H2Error

# Seconds for a connection with its TLS handshake, and for an answer.
CONNECT_WITHIN: Final = 10.0
ANSWER_WITHIN: Final = 10.0
# Seconds that a server has to say goodbye; one that hangs does not.
CLOSE_WITHIN: Final = 1.0
# Requests at a time. Servers allow a hundred or more.
STREAMS: Final = 50
# Of an answer only a short reason matters.
LARGEST_ANSWER: Final = 1024
READ: Final = 65536


class ConnectionFailed(Exception):  # noqa: N818
    """The connection could not be opened, or ended before the answer."""


@dataclass(slots=True)
class Answer:
    status: int = 0
    body: bytes = b""


@dataclass(slots=True)
class _Exchange:
    done: asyncio.Future[Answer]
    answer: Answer = field(default_factory=Answer)


class Http2Connection:
    """Made by `open`, in the event loop that uses it."""

    def __init__(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host = host
        self._reader, self._writer = reader, writer
        self._protocol = H2Connection(H2Configuration(client_side=True, header_encoding=None))
        self._exchanges: dict[int, _Exchange] = {}
        self._streams = asyncio.Semaphore(STREAMS)
        self._protocol.initiate_connection()
        self._flush()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, host: str, port: int, tls: ssl.SSLContext) -> Self:
        try:
            async with asyncio.timeout(CONNECT_WITHIN):
                reader, writer = await asyncio.open_connection(host, port, ssl=tls, ssl_shutdown_timeout=CLOSE_WITHIN)
        except (OSError, TimeoutError) as failed:
            raise ConnectionFailed(str(failed) or type(failed).__name__) from failed
        if writer.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
            writer.close()
            raise ConnectionFailed("the server does not speak HTTP/2")
        return cls(host, reader, writer)

    @property
    def is_closed(self) -> bool:
        return self._reading.done() or self._writer.is_closing()

    async def post(self, path: str, headers: Sequence[tuple[str, str]], body: bytes) -> Answer:
        async with self._streams:
            try:
                async with asyncio.timeout(ANSWER_WITHIN):
                    return await self._send(path, headers, body)
            except (H2Error, OSError, TimeoutError) as failed:
                self._writer.close()
                raise ConnectionFailed(str(failed) or type(failed).__name__) from failed

    async def close(self) -> None:
        self._writer.close()
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await self._reading
        with contextlib.suppress(OSError, TimeoutError):
            await self._writer.wait_closed()

    async def _send(self, path: str, headers: Sequence[tuple[str, str]], body: bytes) -> Answer:
        if self.is_closed:
            raise ConnectionFailed("the connection is closed")
        stream = self._protocol.get_next_available_stream_id()
        exchange = _Exchange(asyncio.get_running_loop().create_future())
        self._exchanges[stream] = exchange
        try:
            named = [(":method", "POST"), (":scheme", "https"), (":authority", self._host), (":path", path)]
            self._protocol.send_headers(stream, [*named, *headers, ("content-length", str(len(body)))])
            self._protocol.send_data(stream, body, end_stream=True)
            self._flush()
            return await exchange.done
        finally:
            del self._exchanges[stream]

    async def _read(self) -> None:
        """Until the connection ends: who still waits for an answer then, gets none."""
        reason = "the server closed the connection"
        try:
            while raw := await self._reader.read(READ):
                for event in self._protocol.receive_data(raw):
                    self._take(event)
                self._flush()
        except (H2Error, OSError) as failed:
            reason = str(failed) or type(failed).__name__
        finally:
            self._writer.close()
            for exchange in self._exchanges.values():
                _fail(exchange, reason)

    def _take(self, event: Event) -> None:
        if isinstance(event, ConnectionTerminated):
            raise ConnectionResetError(f"the server ended the connection, code {event.error_code}")
        exchange = self._exchanges.get(getattr(event, "stream_id", None) or 0)
        if isinstance(event, DataReceived):
            self._protocol.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 0)
            if exchange is not None:
                exchange.answer.body = (exchange.answer.body + (event.data or b""))[:LARGEST_ANSWER]
        elif exchange is None:
            return
        elif isinstance(event, ResponseReceived):
            exchange.answer.status = next(int(value) for name, value in event.headers or [] if name == b":status")
        elif isinstance(event, StreamEnded) and not exchange.done.done():
            exchange.done.set_result(exchange.answer)
        elif isinstance(event, StreamReset):
            _fail(exchange, f"the server reset the stream, code {event.error_code}")

    def _flush(self) -> None:
        if raw := self._protocol.data_to_send():
            self._writer.write(raw)


def _fail(exchange: _Exchange, reason: str) -> None:
    if not exchange.done.done():
        exchange.done.set_exception(ConnectionFailed(reason))
