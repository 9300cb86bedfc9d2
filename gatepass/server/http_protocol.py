"""uvicorn's HTTP protocol, made strict and bounded.

- No header counts after the head is complete: uvicorn would add trailers to the headers of the request.
- Headers that decide something count once (request_head.py). Heads, trailers and chunk extensions have a size.
- Nothing is parsed after a malformed request; the responses before it are still sent.
- `pass_second` cuts off a caller that is too slow. There is no timer for each request.
- The head of a response is written together with its body (cycle.py).
"""

import asyncio
from collections import deque
from contextvars import Context
from typing import Any, Final, cast
from urllib.parse import unquote

import httptools
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from gatepass.base.client_ip import is_within, parsed_address
from gatepass.base.ids import new_id, request_text
from gatepass.base.log import logger
from gatepass.server.connections import KEEP_ALIVE, SLOWEST_BODY, Connections, Reason
from gatepass.server.cycle import Cycle
from gatepass.server.error_response import error_response
from gatepass.server.request_head import (
    CHECKED,
    EXPECT,
    MAX_HEAD,
    ONCE,
    ONCE_FROM_PROXY,
    OWS,
    MalformedRequest,
    TooLarge,
    check_head,
    check_once,
    check_size,
    check_value,
    path_of,
)
from gatepass.server.transport import CountingTransport

# Bytes of trailers and chunk extensions of one request, beyond CHUNK for each chunk. We read neither.
MAX_FRAMING: Final = 8 * 1024
CHUNK: Final = 16
# Bytes of a body that arrive after the response. A browser shows a response only when it has sent a good part.
MAX_UNREAD: Final = 256 * 1024
# Requests that wait for the one before them. A segment holds thousands, and each costs 3 KB.
MAX_PIPELINED: Final = 64

# What the next byte belongs to.
HEAD, BODY, BETWEEN = range(3)

log = logger(__name__)


class HttpProtocol(HttpToolsProtocol):
    def __init__(self, *arguments: Any, limits: Connections, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.url = b""
        self.parser: httptools.HttpRequestParser
        self._limits = limits
        self._app = cast("ASGI3Application", self.app)
        self._counted: CountingTransport
        self._once = ONCE
        # The request that is being answered; `cycle` is the last one that has begun to arrive.
        self._answering: Cycle | None = None
        self._pipelined = deque[Cycle]()
        self._error = b""
        self._is_broken = False
        self._part = HEAD
        self._seen = 0
        # Why the request will be refused once its head, and with it the key, is known.
        self._fault: MalformedRequest | None = None
        self._is_head_complete = False
        # Bytes: of this segment, of this head at most, of trailers and extensions, of this body, of it unread.
        self._segment = self._head_bytes = self._framing = self._body_bytes = self._unread = 0
        # Seconds in this part, and without progress in writing; and how much was written then.
        self._seconds = self._stalled = self._progress = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._counted = CountingTransport(transport)
        super().connection_made(cast("asyncio.Transport", self._counted))
        peer = parsed_address(self.client[0]) if self.client else None
        if len(self.connections) > self._limits.most:
            self._cut_off(Reason.TOO_MANY)
        elif peer is None:  # it is gone already
            transport.abort()
        elif is_within(peer, self._limits.trusted_proxies):
            self._once = ONCE_FROM_PROXY

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every request of this connection; uvicorn would tell the last one only."""
        for cycle in (self._answering, *self._pipelined):
            if cycle is not None and not cycle.response_complete:
                _disconnect(cycle)
        self._pipelined.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_broken:
            return
        self._segment = size = len(data)
        self._head_bytes += size
        try:
            self.parser.feed_data(data)
            if self._part == BODY:
                # Bytes after the head that are not of the body. Those in the segment of the head do not count.
                self._framing = max(0, self._framing + size)
                if self._framing > MAX_FRAMING:
                    raise MalformedRequest("The trailers or chunk extensions of the request are too large.")
            elif self._part == HEAD and self._head_bytes > MAX_HEAD:
                raise TooLarge
        except httptools.HttpParserUpgrade:
            # We have no other protocol. What follows the head may be of another one, so nothing more is parsed.
            self._is_broken = True
            self.cycle.keep_alive = False
        except (httptools.HttpParserError, MalformedRequest) as error:
            self._refuse(error)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._part = HEAD
        self._fault, self._is_head_complete = None, False
        self._seen = self._seconds = 0
        self._head_bytes = self._segment

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._part != HEAD:
            return
        # Blanks around a value are none of it (RFC 9110, 5.5); the parser takes away those in front.
        name, value = name.lower(), value.rstrip(OWS)
        bit = self._once.get(name)
        if bit is not None:
            try:
                check_once(name, bit, self._seen)
                if bit & CHECKED:
                    check_value(bit, value)
            except MalformedRequest as fault:
                self._fault = self._fault or fault
            self._seen |= bit
            if bit == EXPECT:
                self.expect_100_continue = value.lower() == b"100-continue"
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._is_head_complete = True
        if self._fault is not None:
            raise self._fault
        check_head(self.parser.get_http_version(), self._seen, self.url)
        if self._head_bytes > MAX_HEAD:  # at most: a part of these bytes may belong to the body
            check_size(self.url, self.headers)
        if len(self._pipelined) >= MAX_PIPELINED:
            raise MalformedRequest("Too many requests are sent without waiting for a response.")
        self._begin_cycle()
        self._part = BODY
        self._seconds = self._body_bytes = self._unread = 0
        self._framing = -self._segment

    def _begin_cycle(self) -> None:
        """As uvicorn does it, but without upgrades, and with a Cycle of ours."""
        version = self.parser.get_http_version()
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        self.scope["http_version"] = version
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["path"] = unquote(path) if "%" in path else path
        self.scope["raw_path"] = url.path
        self.scope["query_string"] = url.query or b""
        self.cycle = cycle = Cycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        if self._is_answering():
            self.flow.pause_reading()
            self._pipelined.append(cycle)
        else:
            self._answer(cycle)

    def _answer(self, cycle: Cycle) -> None:
        self._answering = cycle
        # In a context of its own: a pipelined request would begin in that of the one before it, and so in its trace.
        self.loop.create_task(cycle.run(self._app, self.tasks), context=Context())

    def on_chunk_header(self) -> None:
        self._framing -= CHUNK

    def on_body(self, body: bytes) -> None:
        size = len(body)
        self._body_bytes += size
        self._framing -= size
        cycle = self.cycle
        if cycle.response_complete:
            self._unread += size
            if self._unread > MAX_UNREAD:
                self._cut_off(Reason.UNREAD_BODY)
            return
        cycle.body += body
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()

    def on_message_complete(self) -> None:
        self._part = BETWEEN
        self._seconds = 0
        if not self.cycle.response_complete:
            self.cycle.more_body = False
            self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        """As uvicorn does it, but without a timer: `pass_second` closes an idle connection."""
        self.server_state.total_requests += 1
        if self._counted.is_closing():
            return
        self.flow.resume_reading()
        if self._pipelined:
            self._answer(self._pipelined.popleft())
        elif self._error:
            self._send_error()

    def pass_second(self) -> None:
        """Cut off a caller that sends or reads too slowly, and close a connection that is idle."""
        waiting, progress = self._counted.unsent()
        if not waiting or progress != self._progress:
            self._stalled, self._progress = 0, progress
        else:
            self._stalled += 1
            if self._stalled > self._limits.write_seconds:
                self._cut_off(Reason.UNREAD_RESPONSE)
                return
        if self.flow.read_paused or (self._part != BODY and (waiting or self._is_answering())):
            return  # it is not the caller who lets us wait
        self._seconds += 1
        if self._part == BODY:
            if self._seconds > self._limits.body_seconds and self._body_bytes < SLOWEST_BODY * self._seconds:
                self._cut_off(Reason.SLOW_BODY)
        elif self._part == HEAD:
            if self._seconds > self._limits.head_seconds:
                self._cut_off(Reason.SLOW_HEAD)
        elif self._seconds > KEEP_ALIVE:
            self._counted.close()

    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.response_complete

    def _cut_off(self, reason: Reason) -> None:
        self._is_broken = True
        self._limits.count(reason)
        log.debug("cut_off", reason=reason, address=self.client and self.client[0])
        self._counted.abort()

    def _refuse(self, error: Exception) -> None:
        """Parse nothing more. Answer with an error, after the responses to earlier requests, and close."""
        self._is_broken = True
        self._limits.count(Reason.MALFORMED)
        cause = error.__context__ if isinstance(error, httptools.HttpParserCallbackError) else error
        sentence = str(cause) if isinstance(cause, MalformedRequest) else "The request is not valid HTTP."
        call_id = new_id()
        id = request_text(call_id)
        if self._is_head_complete and self._part == HEAD and (path := path_of(self.url)) is not None:
            method = self.parser.get_method().decode("ascii")
            self._limits.refused({**self.scope, "method": method, "path": path}, call_id)
        log.info("malformed", request_id=id, reason=sentence, address=self.client and self.client[0])
        self._error = error_response(sentence, self.url, id, self._limits.headers, self.server_state.default_headers)
        if self._part == BODY:  # of the last request: it gets this response instead of its own
            self._give_up(self.cycle)
        if not self._is_answering():
            self._send_error()

    def _give_up(self, cycle: RequestResponseCycle) -> None:
        if self._pipelined:
            self._pipelined.pop()
        elif cycle.response_started:
            self._counted.abort()
        else:
            cycle.response_complete = True
        _disconnect(cycle)

    def _send_error(self) -> None:
        self._counted.write(self._error)
        self._counted.close()


def _disconnect(cycle: RequestResponseCycle) -> None:
    cycle.disconnected = True
    cycle.message_event.set()
