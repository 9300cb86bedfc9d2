"""The faults of a bad network: how a proxied request is broken, and how often."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

# Longer than a try of the tests' clients may take.
TOO_LONG = 1.0
# Set on answers that were passed on complete and at once: a client that got one must not retry.
UNTOUCHED = b"x-fault: none\r\n"


@dataclass
class Upstream:
    """A connection to the service, opened when it is first needed."""

    port: int
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> bytes:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        writer.write(request)
        return await message(reader)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


@dataclass
class ProxiedRequest:
    """One request of a client, and its connection to the service."""

    request: bytes
    # A synchronous client cannot bound headers that trickle.
    trickles_headers: bool
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    upstream: Upstream

    async def answer(self) -> bytes:
        """The complete answer of the service."""
        return await self.upstream.ask(self.request)

    async def say(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()

    async def wait_until_client_closes(self) -> None:
        await self.reader.read()

    def reset(self) -> None:
        """Close the connection with a TCP reset."""
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


async def message(reader: asyncio.StreamReader) -> bytes:
    """One request or answer, head and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    return head + await reader.readexactly(length)


def split(answer: bytes) -> tuple[bytes, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", body


# Each fault ends with True if the connection can carry another request.
Fault = Callable[[ProxiedRequest], Awaitable[bool]]


async def passed(call: ProxiedRequest) -> bool:
    await call.say((await call.answer()).replace(b"\r\n", b"\r\n" + UNTOUCHED, 1))
    return True


async def closed_before(call: ProxiedRequest) -> bool:
    return False


async def reset_before(call: ProxiedRequest) -> bool:
    call.reset()
    return False


async def reset_while_served(call: ProxiedRequest) -> bool:
    answering = asyncio.ensure_future(call.answer())
    # After one turn of the loop the request is under way.
    await asyncio.sleep(0)
    call.reset()
    await answering
    return False


async def reset_after(call: ProxiedRequest) -> bool:
    await call.answer()
    call.reset()
    return False


async def swallowed(call: ProxiedRequest) -> bool:
    await call.answer()
    await call.wait_until_client_closes()
    return False


async def ignored(call: ProxiedRequest) -> bool:
    await call.wait_until_client_closes()
    return False


async def a_little_late(call: ProxiedRequest) -> bool:
    answer = await call.answer()
    await asyncio.sleep(0.05)
    await call.say(answer)
    return True


async def too_late(call: ProxiedRequest) -> bool:
    """The request is passed on late too: the client may have retried by then."""
    await asyncio.sleep(TOO_LONG)
    await call.say(await call.answer())
    return False


async def cut_in_headers(call: ProxiedRequest) -> bool:
    head, _ = split(await call.answer())
    await call.say(head[: len(head) // 2])
    return False


async def cut_in_body(call: ProxiedRequest) -> bool:
    head, body = split(await call.answer())
    await call.say(head + body[: len(body) // 2])
    return False


async def half_in_headers(call: ProxiedRequest) -> bool:
    head, _ = split(await call.answer())
    await call.say(head[: len(head) // 2])
    await call.wait_until_client_closes()
    return False


async def half_in_body(call: ProxiedRequest) -> bool:
    head, body = split(await call.answer())
    await call.say(head + body[: len(body) // 2])
    await call.wait_until_client_closes()
    return False


async def trickled(call: ProxiedRequest, *, bytes_at_once: int, pause: float) -> bool:
    head, body = split(await call.answer())
    if not call.trickles_headers:
        await call.say(head)
    rest = head + body if call.trickles_headers else body
    for at in range(0, len(rest), bytes_at_once):
        await call.say(rest[at : at + bytes_at_once])
        await asyncio.sleep(pause)
    return True


async def trickled_in_time(call: ProxiedRequest) -> bool:
    return await trickled(call, bytes_at_once=16, pause=0.001)


async def trickled_endlessly(call: ProxiedRequest) -> bool:
    return await trickled(call, bytes_at_once=1, pause=0.02)


async def answered_then_closed(call: ProxiedRequest) -> bool:
    await call.say(await call.answer())
    return False


async def answered_then_stale(call: ProxiedRequest) -> bool:
    """A kept-alive connection that is reset when the next request is written."""
    await call.say(await call.answer())
    await call.reader.read(1)
    call.reset()
    return False


def instead(status: str, kind: str, body: str, *headers: str) -> Fault:
    """Answered here: the service never gets the request."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", body]
    raw = "\r\n".join(lines).encode()

    async def answered_here(call: ProxiedRequest) -> bool:
        await call.say(raw)
        return True

    return answered_here


def on_top(status: str, body: str) -> Fault:
    """The service carried out the request, and a gateway answers with an error."""
    gateway = instead(status, "text/html", body)

    async def hidden(call: ProxiedRequest) -> bool:
        await call.answer()
        return await gateway(call)

    return hidden


BUSY = '{"error": "Too many scans are waiting.", "code": "overloaded"}'
LIMITED = '{"error": "Too many calls.", "code": "rate_limited"}'
PORTAL = "<html><body>Welcome to Stadium WiFi. Accept the terms to go on.</body></html>"

# Per 100 requests, how many get which fault. The others pass.
FAULTS: dict[str, tuple[float, Fault]] = {
    "closed before it was sent on": (2, closed_before),
    "reset before it was sent on": (2, reset_before),
    "reset while it was served": (4, reset_while_served),
    "reset after it was served": (4, reset_after),
    "answer swallowed, then silence": (2, swallowed),
    "not sent on, then silence": (1, ignored),
    "answer 50 ms late": (3, a_little_late),
    "request and answer too late": (2, too_late),
    "cut in the headers": (3, cut_in_headers),
    "cut in the body": (3, cut_in_body),
    "half the headers, then silence": (1, half_in_headers),
    "half the body, then silence": (1, half_in_body),
    "trickled, in time": (1, trickled_in_time),
    "trickled, endlessly": (1, trickled_endlessly),
    "connection closed after the answer": (3, answered_then_closed),
    "kept connection gone at the next request": (3, answered_then_stale),
    "502, HTML": (2, instead("502 Bad Gateway", "text/html", "<h1>502</h1>")),
    "503, HTML, Retry-After": (1, instead("503 Busy", "text/html", "<h1>503</h1>", "Retry-After: 1")),
    "503, JSON of a stranger": (2, instead("503 Busy", "application/json", '{"message": "no healthy upstream"}')),
    "503, overloaded": (2, instead("503 Busy", "application/json", BUSY, "x-svc-should-retry: true")),
    "504 on top of an answer": (2, on_top("504 Gateway Timeout", "<h1>504</h1>")),
    "429, Retry-After": (1, instead("429 Slow", "application/json", LIMITED, "Retry-After: 1")),
    "429, HTML": (1, instead("429 Slow", "text/html", "<h1>429</h1>")),
    "408": (1, instead("408 Request Timeout", "text/plain", "")),
    "portal, 200 HTML": (2, instead("200 OK", "text/html", PORTAL)),
    "portal, 200 JSON": (1, instead("200 OK", "application/json", '{"data": {"portal": "sign in"}}')),
    "portal, 302": (1, instead("302 Found", "text/html", "", "Location: http://127.0.0.1:9/portal")),
}
