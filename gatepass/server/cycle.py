"""One request and its response, between the HTTP protocol and an ASGI application.

It sends as uvicorn's does, for less: the values of all headers are checked at once, and the head leaves together with
the body, in one system call and one packet.
"""

import asyncio
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.httptools_impl import HEADER_RE, STATUS_LINE, RequestResponseCycle

Headers = Iterable[tuple[bytes, bytes]]

# Lines of a head begin with these.
CONTENT_LENGTH: Final = b"content-length: "
TRANSFER_ENCODING: Final = b"transfer-encoding: "
CONNECTION: Final = b"connection: "
FRAMING: Final = frozenset({CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION})
# No value of a header holds one of these; a tab it may.
CONTROLS: Final = bytes({*range(32), 127} - {ord("\t")})
# Joining the head and a body as large as this would cost more than a second packet.
LARGE: Final = 64 * 1024


class Cycle(RequestResponseCycle):
    _head = b""

    async def run(self, app: ASGI3Application, tasks: set[asyncio.Task[None]]) -> None:
        """Answer the request, as one of these tasks."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  the protocol makes one for each request
        tasks.add(task)
        try:
            await self.run_asgi(app)
        finally:
            tasks.discard(task)

    async def send(self, message: ASGISendEvent) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if self.response_complete:
            raise RuntimeError(f"Unexpected ASGI message '{message['type']}' sent, after response already completed.")
        if self.response_started:
            if message["type"] != "http.response.body":
                raise RuntimeError(f"Expected ASGI message 'http.response.body', but got '{message['type']}'.")
            self._write(message.get("body", b""), more=message.get("more_body", False))
        else:
            if message["type"] != "http.response.start":
                raise RuntimeError(f"Expected ASGI message 'http.response.start', but got '{message['type']}'.")
            self._begin(message["status"], [*self.default_headers, *message.get("headers", ())])

    def _begin(self, status: int, headers: Headers) -> None:
        """Make the head, and keep it until the body comes."""
        beginnings = [_beginning(name) for name, _ in headers]
        values = [value for _, value in headers]
        _check(values)
        self.response_started = True
        self.waiting_for_100_continue = False
        lines = [STATUS_LINE[status]]
        for beginning, value in zip(beginnings, values, strict=True):
            if beginning in FRAMING:
                self._note_framing(beginning, value)
            if beginning != CONNECTION:
                lines += beginning, value, b"\r\n"
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        if self.chunked_encoding is None and self.scope["method"] != "HEAD" and status not in (204, 304):
            self.chunked_encoding = True
            lines.append(b"transfer-encoding: chunked\r\n")
        lines.append(b"\r\n")
        self._head = b"".join(lines)

    def _note_framing(self, beginning: bytes, value: bytes) -> None:
        if beginning == CONNECTION:
            self.keep_alive = self.keep_alive and b"close" not in value.lower()
        elif beginning == CONTENT_LENGTH and self.chunked_encoding is None:
            self.expected_content_length = int(value)
            self.chunked_encoding = False
        elif beginning == TRANSFER_ENCODING and value.lower() == b"chunked":
            self.expected_content_length = 0
            self.chunked_encoding = True

    def _write(self, body: bytes, *, more: bool) -> None:
        head, self._head = self._head, b""
        if len(body) > LARGE:
            self.transport.write(head)
            head = b""
        self.transport.write(head + self._framed(body, more=more))
        if more:
            return
        if self.expected_content_length:
            raise RuntimeError("Response content shorter than Content-Length")
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()

    def _framed(self, body: bytes, *, more: bool) -> bytes:
        """The body as it is sent: in chunks, or counted against its announced length."""
        if self.scope["method"] == "HEAD":
            self.expected_content_length = 0
            return b""
        if self.chunked_encoding:
            chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            return chunk if more else chunk + b"0\r\n\r\n"
        if len(body) > self.expected_content_length:
            raise RuntimeError("Response content longer than Content-Length")
        self.expected_content_length -= len(body)
        return body


def _check(values: Iterable[bytes]) -> None:
    joined = b"".join(values)
    if len(joined.translate(None, CONTROLS)) != len(joined):
        raise RuntimeError("Invalid HTTP header value.")


@lru_cache(256)
def _beginning(name: bytes) -> bytes:
    """The beginning of a line, for a name that is valid. Names are our own, so they are few."""
    if HEADER_RE.search(name):
        raise RuntimeError("Invalid HTTP header name.")
    return name.lower() + b": "
